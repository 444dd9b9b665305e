//! The price of a place (K-124): a factor that sets `cpus` puts target and generator on shared cores
//! or on cores of their own, and its contrast is the topology term of every other contrast. Whether
//! the mock was idle all the while is told beside it (E-034, E-067).

use record::compare::Contrast;
use record::digest::Digest;
use record::plan::Fresh;
use record::units::HumanDuration;
use stats::sample::median;

/// One note for each contrast of a primary metric whose factor sets cores.
pub(crate) fn notes(contrasts: &[Contrast], measured: &[(&str, &Digest)]) -> Vec<String> {
    let places = |contrast: &&Contrast| {
        contrast.primary && !contrast.null && contrast.sets.iter().any(|path| is_place(path))
    };
    contrasts.iter().filter(places).map(|contrast| note(contrast, contrasts, measured)).collect()
}

fn is_place(path: &str) -> bool {
    path == "cpus" || path.starts_with("cpus.")
}

fn note(contrast: &Contrast, all: &[Contrast], measured: &[(&str, &Digest)]) -> String {
    let Contrast { factor, level, baseline, cell, metric, .. } = contrast;
    let effect = contrast.effect_percent.map_or("unknown".to_owned(), |e| format!("{e:+.2} %"));
    let mut text =
        format!("topology term: {factor}: {level} / {baseline} in {cell}: {metric} {effect}");
    // In time, which is what a distance costs.
    let median_of = all.iter().find(|other| {
        other.metric == "p50"
            && (&other.factor, &other.level, &other.baseline, &other.cell)
                == (factor, level, baseline, cell)
    });
    let values = median_of.and_then(|p50| p50.baseline_value.zip(p50.level_value));
    if let Some((before, after)) = values {
        let sign = if after < before { "-" } else { "+" };
        text.push_str(&format!(
            ", p50 {sign}{} of {}",
            HumanDuration((after - before).abs()),
            HumanDuration(before)
        ));
    }
    let runs_of = |wanted: &str| -> Vec<&Digest> {
        let runs = measured.iter().map(|(_, digest)| *digest).filter(|digest| {
            digest.levels.iter().any(|of| of.factor == *factor && of.level == wanted)
        });
        runs.collect()
    };
    let (before, after) = (runs_of(baseline), runs_of(level));
    let busy = |runs: &[&Digest]| {
        let shares = runs.iter().filter_map(|run| run.resources.get("mock")?.cores_busy);
        median(&shares.collect::<Vec<f64>>())
    };
    if let Some((then, now)) = busy(&before).zip(busy(&after)) {
        text.push_str(&format!(
            "; the mock kept {then:.3} cores busy in {baseline}, {now:.3} in {level}"
        ));
    }
    let is_cold = |runs: &[&Digest]| {
        runs.first().is_some_and(|run| run.identity.effective.target.fresh == Fresh::Run)
    };
    if is_cold(&after) && !is_cold(&before) {
        text.push_str(&format!(
            "; an upper bound: in {level} every run has a target that starts cold, in {baseline} one \
             stays up and warm"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use record::digest::RoleResources;

    use super::super::fixture::{Label, null, set, slow, spread};
    use super::*;

    /// Eight pairs in which `slow` shares cores: 3 % off the throughput, 0.15 ms on the median.
    fn label() -> Label {
        let mut label = Label::default();
        label.pairs(&slow(), &spread(8, -0.03, 0.004));
        label.pairs(&null(), &spread(8, 0.0, 0.003));
        label.edit(
            |_| true,
            |run| {
                let cores_busy = Some(if run.cell == "slow" { 0.12 } else { 0.08 });
                let busy = RoleResources { cores_busy, ..RoleResources::default() };
                run.resources.insert("mock".to_owned(), busy);
                let median = if run.cell == "slow" { 1_350_000.0 } else { 1_200_000.0 };
                set(run, "p50", median);
                run.identity.effective.target.fresh = Fresh::Matrix;
            },
        );
        label
    }

    fn sets(label: &mut Label, path: &str) {
        label.edit(
            |run| run.cell == "slow",
            |run| {
                run.identity.sets = [("target".to_owned(), [path.to_owned()].into())].into();
            },
        );
    }

    fn said(label: &Label) -> Vec<String> {
        let notes = label.compared().notes.into_iter();
        notes.filter(|note| note.starts_with("topology")).collect()
    }

    #[test]
    fn the_price_of_sharing_is_said_in_time_with_the_mocks_own_use() {
        let mut shared = label();
        sets(&mut shared, "cpus.generator");
        insta::assert_snapshot!(said(&shared).join("\n"), @"topology term: target: slow / base in *: throughput -2.96 %, p50 +150 us of 1.20 ms; the mock kept 0.080 cores busy in base, 0.120 in slow");
        // A factor that moves nobody has no such term.
        let mut elsewhere = label();
        sets(&mut elsewhere, "target.mock.latency");
        assert_eq!(said(&elsewhere), [""; 0]);
    }

    /// E-034: a mock that starts cold for every run differs in more than its place.
    #[test]
    fn a_mock_for_each_run_is_an_upper_bound() {
        let mut forked = label();
        sets(&mut forked, "cpus.mock");
        assert!(!said(&forked)[0].contains("upper bound"));
        forked
            .edit(|run| run.cell == "slow", |run| run.identity.effective.target.fresh = Fresh::Run);
        assert!(
            said(&forked)[0]
                .contains("an upper bound: in slow every run has a target that starts cold")
        );
    }
}
