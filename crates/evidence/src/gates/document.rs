//! `docs/gates.md`: the table of gates and the conditions of a contrast as a page. A test fails
//! when the page is stale, and when a test that it names does not exist or is about something else.

use std::fmt::Write;

use record::plan::Gates;
use record::units::HumanDuration;
use record::{Effect, Scope};

use super::contrast::CONDITIONS;
use super::table::GATES;
use super::{Gate, percent};

const HEAD: &str = "\
# Gates and flags

Made from `crates/evidence/src/gates`; `UPDATE_DOCS=1 cargo test -p evidence document` writes it
anew.

A *condition* is held against the evidence of a run, or of a matrix. What it does when it does not
hold is its power:

| power | what it does |
|---|---|
| flag | annotates; excludes nothing |
| at_least | makes the figure a lower bound |
| censor | makes percentiles bounds, shown as `>= x` |
| void | excludes the run, or the figures that it touches, by name |

The state of a figure is the worst of what touches it: `valid`, `at_least`, `censored` or `void`. A
flag leaves it `valid`. Failed requests, void runs and censored percentiles improve no figure: they
are left out, and said.

## Conditions of a run

Each digest lists all of them with value and bound, held or not. A value that is not known, or a
condition that does not apply, is shown as `-`. The key of a bound is set in `[gates]`. The first
test plants the fault in a record, the second in a whole run.

";

const STEADY: &str = "\
Steadiness is tested on the median latency and on the throughput of each whole second of the window.
A finding must be larger than its bound, and chance must not explain it: with a spread of 2 % from
second to second, at most 3 % of steady windows raise one of the five flags and none is void; with 5 %
and seconds that resemble their neighbours (a correlation of 0.5), at most 10 % and 1 %; with 10 %,
12 % and 4.5 % (for each of the two series; `false_alarms_are_rarer_than_stated`). A median that is
under 5 requests a second has no throughput test.

Why a condition flags rather than voids: `little` and `hidden_mode` make a reading wrong and no
figure; a doubt about the host touches both arms of a pair alike and shows in the null contrast.
`shift` voids, since a window of two states has no median that describes either.

`lag_base` (4.00 ms) is the least that a median service time counts as in `lag_flag` and `lag`, so
that a lag of 200 us is never late. `lag` does not void where requests waited for a connection: that
wait is the target's, and belongs to the latency.

## Conditions of a contrast

Judged over pairs, or over all cells of a matrix.

";

/// The page.
#[must_use]
pub fn page() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("| condition | does not hold when | power | bound | key | evidence | made to fail by | what to try |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for gate in GATES {
        let tests = match gate.run_test {
            "" => format!("`{}`", gate.record_test),
            run => format!("`{}`; `{run}`", gate.record_test),
        };
        let key = if gate.key.is_empty() { String::new() } else { format!("`{}`", gate.key) };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {key} | {} | {tests} | {} |",
            gate.name,
            gate.meaning,
            power(gate),
            bound(gate),
            gate.source,
            gate.remedy
        );
    }
    text.push('\n');
    text.push_str(STEADY);
    text.push_str("| condition | does not hold when | power | bound | made to fail by |\n");
    text.push_str("|---|---|---|---|---|\n");
    for condition in CONDITIONS {
        let test =
            if condition.test.is_empty() { String::new() } else { format!("`{}`", condition.test) };
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {test} |",
            condition.name,
            condition.meaning,
            condition.power.word(),
            condition.bound
        );
    }
    text
}

fn power(gate: &Gate) -> String {
    let effect = match gate.effect {
        Effect::Flag => "flag",
        Effect::AtLeast => "at_least",
        Effect::Censor => "censor",
        Effect::Void => "void",
    };
    match gate.scope {
        Scope::Run => effect.to_owned(),
        Scope::Latency => format!("{effect}, latency"),
        Scope::Throughput => format!("{effect}, throughput"),
    }
}

/// The default bound with its unit.
fn bound(gate: &Gate) -> String {
    match ((gate.bound)(&Gates::default()), gate.unit) {
        (None, _) => String::new(),
        (Some(bound), "ns") => HumanDuration(bound).to_string(),
        (Some(bound), "share") => percent(bound),
        (Some(bound), unit) => format!("{bound} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;

    fn crates() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    fn sources(dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(fs::read_to_string(&path).unwrap());
            }
        }
    }

    /// The text of every test function by its name, whatever crate it is in.
    fn tests_by_name() -> BTreeMap<String, String> {
        let mut files = Vec::new();
        for name in ["evidence", "stats", "assay", "load"] {
            for part in ["src", "tests"] {
                sources(&crates().join(name).join(part), &mut files);
            }
        }
        let mut tests = BTreeMap::new();
        for file in &files {
            for piece in file.split("#[test]").skip(1) {
                let name = piece.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
                let Some((name, _)) = name else { continue };
                let body = piece.split_once("\n}\n").map_or(piece, |(body, _)| body);
                tests.insert(name.to_owned(), body.to_owned());
            }
        }
        tests
    }

    #[test]
    fn the_page_is_not_stale() {
        let path = crates().join("..").join("docs").join("gates.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, page()).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == page(), "docs/gates.md is stale; run with UPDATE_DOCS=1");
    }

    /// K-155: a gate without a test that makes it fail is decoration. The test must say the gate's
    /// name, so that a name cannot be pasted.
    #[test]
    fn every_gate_has_tests_that_make_it_fail() {
        let tests = tests_by_name();
        let about = |name: &str, gate: &Gate| {
            let body =
                tests.get(name).unwrap_or_else(|| panic!("no test `{name}` for `{}`", gate.name));
            assert!(body.contains(gate.name), "`{name}` is not about `{}`", gate.name);
        };
        // What no program can plant, and what leaves no digest.
        let without_a_run = [
            "interrupted",
            "mock_tier",
            "steal",
            "frequency",
            "steady_seconds",
            "clock_variance",
            "speed",
            "turbo",
            "governor",
            "mains",
            "start_temperature",
        ];
        for gate in GATES {
            about(gate.record_test, gate);
            if without_a_run.contains(&gate.name) {
                assert_eq!(gate.run_test, "", "`{}` has one now", gate.name);
            } else {
                about(gate.run_test, gate);
            }
        }
    }

    #[test]
    fn every_condition_of_a_contrast_is_listed_and_tested() {
        let tests = tests_by_name();
        for condition in CONDITIONS {
            let test = tests.get(condition.test);
            let body = test.unwrap_or_else(|| panic!("no test `{}`", condition.test));
            assert!(
                body.contains(condition.name),
                "`{}` is not about `{}`",
                condition.test,
                condition.name
            );
        }
        // A flag that the sources raise and the page does not know.
        let sources = [
            include_str!("../compare/verdicts.rs"),
            include_str!("../compare/terms.rs"),
            include_str!("../compare/cluster.rs"),
            include_str!("../compare/saturated.rs"),
            include_str!("../tables/cells.rs"),
            include_str!("../tables/manipulation.rs"),
            include_str!("../tables/variance.rs"),
            include_str!("../../../stats/src/verdict.rs"),
        ];
        for line in sources.iter().flat_map(|source| source.lines()) {
            let Some((_, value)) = line.split_once(": &str = \"") else { continue };
            let name = value.trim_end_matches("\";");
            let is_flag = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            // The name of a gate that a condition looks at.
            let is_gate = GATES.iter().any(|gate| gate.name == name);
            let listed = CONDITIONS.iter().any(|condition| condition.name == name);
            assert!(!is_flag || is_gate || listed, "`{name}` is in no list of conditions");
        }
    }

    /// D2: eleven pairs agree, one is far off.
    #[test]
    fn ranks_and_means_that_disagree_are_heavy_tails() {
        let mut pairs: Vec<f64> = (0..11).map(|i| 0.030 + 0.001 * f64::from(i)).collect();
        let word = |pairs: &[f64]| stats::verdict::verdict(pairs, 0.02, false, None);
        assert!(!word(&pairs).flags.contains(&"heavy_tails"));
        pairs.push(-1.0);
        let judged = word(&pairs);
        assert!(judged.flags.contains(&"heavy_tails"), "{judged:?}");
        assert_eq!(judged.word.as_str(), "inconclusive");
    }

    /// Every key of `[gates]` is the bound of a condition, or said on the page.
    #[test]
    fn every_key_is_on_the_page() {
        let keys = include_str!("../../../bench/src/defaults.toml");
        let section = keys.split("[gates]\n").nth(1).unwrap_or_default();
        let section = section.split("\n[").next().unwrap_or_default();
        let page = page();
        let keys = section.lines().filter_map(|line| line.split_once(" = ").map(|(key, _)| key));
        let missing: Vec<&str> = keys.filter(|key| !page.contains(&format!("`{key}`"))).collect();
        assert_eq!(missing, [""; 0]);
    }
}
