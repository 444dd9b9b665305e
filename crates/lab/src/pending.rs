//! What is still to be made: a pure function of the plan and of what the label holds, so that a
//! matrix killed at any instant resumes with each run counted once.

use std::collections::{BTreeMap, BTreeSet};

use record::plan::{PlannedRun, RunKind};

/// A run to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) planned: PlannedRun,
    /// Directory name of this attempt.
    pub(crate) dir: String,
    /// 1, or more for a repetition.
    pub(crate) attempt: u32,
    /// Whether its instance ends with it.
    pub(crate) last_of_instance: bool,
    /// Whether its instance serves this run alone.
    pub(crate) alone: bool,
}

/// The name of an attempt: `03-02-b`, then `03-02-b.2`, `03-02-b.3`, ...
pub(crate) fn attempt_name(dir: &str, attempt: u32) -> String {
    if attempt == 1 { dir.to_owned() } else { format!("{dir}.{attempt}") }
}

/// The runs still to make, in the plan's order. `existing` holds the directories of the label,
/// with whether each is complete.
///
/// A warm-up run belongs to its instance. An instance that is still needed is brought up anew
/// on a resume, so its warm-up is made again, whatever was completed before.
pub(crate) fn pending(runs: &[PlannedRun], existing: &BTreeMap<String, bool>) -> Vec<Pending> {
    let attempts = |dir: &str| -> Vec<String> {
        let names = (1..).map(|attempt| attempt_name(dir, attempt));
        names.take_while(|name| existing.contains_key(name)).collect()
    };
    let is_done = |run: &PlannedRun| attempts(&run.dir).iter().any(|name| existing[name]);
    let needed: BTreeSet<u32> = runs
        .iter()
        .filter(|run| run.kind == RunKind::Measured && !is_done(run))
        .map(|run| run.instance)
        .collect();
    let mut of_instance: BTreeMap<u32, usize> = BTreeMap::new();
    for run in runs {
        *of_instance.entry(run.instance).or_default() += 1;
    }
    let mut list: Vec<Pending> = runs
        .iter()
        .filter(|run| match run.kind {
            RunKind::Measured => !is_done(run),
            RunKind::WarmUp => needed.contains(&run.instance),
        })
        .map(|run| {
            let attempt = attempts(&run.dir).len() as u32 + 1;
            Pending {
                planned: run.clone(),
                dir: attempt_name(&run.dir, attempt),
                attempt,
                last_of_instance: false,
                alone: of_instance[&run.instance] == 1,
            }
        })
        .collect();
    let mut seen = BTreeSet::new();
    for run in list.iter_mut().rev() {
        run.last_of_instance = seen.insert(run.planned.instance);
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(dir: &str, instance: u32, kind: RunKind) -> PlannedRun {
        PlannedRun {
            dir: dir.into(),
            block: 1,
            order: 1,
            cell: "a".into(),
            kind,
            instance,
            layout_bytes: 0,
        }
    }

    fn plan() -> Vec<PlannedRun> {
        vec![
            run("01-01w-a", 1, RunKind::WarmUp),
            run("01-01-a", 1, RunKind::Measured),
            run("01-02-b", 1, RunKind::Measured),
            run("01-03-c", 2, RunKind::Measured),
        ]
    }

    fn names(existing: &[(&str, bool)]) -> Vec<(String, bool)> {
        let existing = existing.iter().map(|(name, done)| ((*name).to_owned(), *done)).collect();
        pending(&plan(), &existing).into_iter().map(|p| (p.dir, p.last_of_instance)).collect()
    }

    fn expect(list: &[(&str, bool)]) -> Vec<(String, bool)> {
        list.iter().map(|(name, last)| ((*name).to_owned(), *last)).collect()
    }

    #[test]
    fn fresh() {
        assert_eq!(
            names(&[]),
            expect(&[
                ("01-01w-a", false),
                ("01-01-a", false),
                ("01-02-b", true),
                ("01-03-c", true)
            ])
        );
    }

    #[test]
    fn the_incomplete_one_is_repeated_with_its_warm_up() {
        assert_eq!(
            names(&[("01-01w-a", true), ("01-01-a", true), ("01-02-b", false)]),
            expect(&[("01-01w-a.2", false), ("01-02-b.2", true), ("01-03-c", true)])
        );
    }

    #[test]
    fn a_third_attempt() {
        assert_eq!(
            names(&[
                ("01-01w-a", true),
                ("01-01-a", true),
                ("01-02-b", true),
                ("01-03-c", false),
                ("01-03-c.2", false),
            ]),
            expect(&[("01-03-c.3", true)])
        );
    }

    #[test]
    fn a_completed_repetition_counts() {
        assert_eq!(
            names(&[
                ("01-01w-a", true),
                ("01-01-a", false),
                ("01-01-a.2", true),
                ("01-02-b", true),
                ("01-03-c", true),
            ]),
            expect(&[])
        );
    }

    #[test]
    fn killed_during_the_warm_up() {
        assert_eq!(
            names(&[("01-01w-a", false)]),
            expect(&[
                ("01-01w-a.2", false),
                ("01-01-a", false),
                ("01-02-b", true),
                ("01-03-c", true)
            ])
        );
    }
}
