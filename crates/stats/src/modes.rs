//! A second way in which requests end (M-024): a narrow mode far above the others, as from a
//! delayed acknowledgement, a safepoint or an export that some calls pay in full.

use hdrhistogram::Histogram;

/// A mode needs this share of all values, and [`FEWEST_VALUES`].
pub const FEWEST_SHARE: f64 = 0.001;
/// Fewest values in a mode: fewer are the tail of any law.
pub const FEWEST_VALUES: u64 = 20;
/// The mode begins at this multiple of where the rest ends.
pub const GAP_RATIO: f64 = 1.5;
/// Values that may lie inside the gap, as a share of those in the mode.
const STRAY_SHARE: f64 = 0.05;
/// Width of the mode (5th to 95th percentile) as a share of its distance from the rest: more is
/// no near fixed extra.
const WIDTH_SHARE: f64 = 0.5;

/// A narrow upper mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Share of all values that lie in it.
    pub share: f64,
    /// Its 5th percentile, ns.
    pub from_ns: u64,
    /// Its 95th percentile, ns.
    pub to_ns: u64,
    /// Its median, ns.
    pub centre_ns: u64,
    /// Its median less the median of what lies below the gap, ns: what these requests pay extra.
    pub extra_ns: u64,
}

/// The upper mode of a latency histogram, when there is one: at least [`FEWEST_SHARE`] and at
/// most half of the values, above a gap of at least [`GAP_RATIO`] that is all but empty, and
/// narrow in comparison with its distance. The widest such gap wins. Smooth laws have no gap:
/// log-normal, exponential and uniform ones give `None` whatever their spread.
#[must_use]
pub fn upper_mode(histogram: &Histogram<u64>) -> Option<Mode> {
    let buckets: Vec<(u64, u64)> = histogram
        .iter_recorded()
        .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
        .collect();
    let total: u64 = buckets.iter().map(|bucket| bucket.1).sum();
    let fewest = FEWEST_VALUES.max((FEWEST_SHARE * total as f64).ceil() as u64);
    // `above[i]` counts values in buckets from i on.
    let mut above = vec![0; buckets.len() + 1];
    for (index, (_, count)) in buckets.iter().enumerate().rev() {
        above[index] = above[index + 1] + count;
    }
    // The rest ends with bucket `last`, the mode begins with bucket `first`; between them at most
    // the stray share. As `last` rises, `first` never falls: two pointers.
    let mut best: Option<(usize, usize, f64)> = None;
    let mut first = 1;
    for last in 0..buckets.len() {
        if 2 * (total - above[last + 1]) < total {
            continue;
        }
        first = first.max(last + 1);
        let fits = |first: usize| {
            let (mode, stray) = (above[first], above[last + 1] - above[first]);
            mode >= fewest && stray as f64 <= STRAY_SHARE * mode as f64
        };
        while first + 1 < buckets.len() && fits(first + 1) {
            first += 1;
        }
        if first < buckets.len() && fits(first) {
            let ratio = buckets[first].0 as f64 / buckets[last].0.max(1) as f64;
            if ratio >= GAP_RATIO && best.is_none_or(|(_, _, widest)| ratio > widest) {
                best = Some((last, first, ratio));
            }
        }
    }
    let (last, first, _) = best?;
    // Strays belong to the side that they are nearer to: the cut is the widest step of all.
    let step = |index: &usize| buckets[index + 1].0 as f64 / buckets[*index].0.max(1) as f64;
    let last = (last..first).max_by(|a, b| step(a).total_cmp(&step(b)))?;
    let first = last + 1;
    let quantile = |buckets: &[(u64, u64)], count: u64, p: f64| -> u64 {
        let rank = ((p * count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (value, count) in buckets {
            seen += count;
            if seen >= rank {
                return *value;
            }
        }
        0
    };
    let (rest, mode) = (&buckets[..=last], &buckets[first..]);
    let centre_ns = quantile(mode, above[first], 0.5);
    let extra_ns = centre_ns - quantile(rest, total - above[first], 0.5);
    let (from_ns, to_ns) = (quantile(mode, above[first], 0.05), quantile(mode, above[first], 0.95));
    ((to_ns - from_ns) as f64 <= WIDTH_SHARE * extra_ns as f64).then(|| Mode {
        share: above[first] as f64 / total as f64,
        from_ns,
        to_ns,
        centre_ns,
        extra_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    const MS: f64 = 1e6;

    fn histogram(n: usize, seed: u64, mut draw: impl FnMut(&mut Random) -> f64) -> Histogram<u64> {
        let mut histogram = crate::histogram::new();
        let mut random = Random::seeded(seed);
        for _ in 0..n {
            histogram.saturating_record(draw(&mut random) as u64);
        }
        histogram
    }

    #[test]
    fn a_fixed_extra_for_a_few_calls_is_named_with_share_and_size() {
        for n in [2_000, 100_000] {
            let seen = upper_mode(&histogram(n, 1, |random| {
                let base = 14.0 * MS * (0.15 * random.normal()).exp();
                if random.unit() < 0.035 { base + 225.0 * MS } else { base }
            }))
            .unwrap();
            assert!((seen.share - 0.035).abs() < 0.013, "{seen:?}");
            assert!((seen.extra_ns as f64 / MS - 225.0).abs() < 2.0, "{seen:?}");
            assert!((seen.centre_ns as f64 / MS - 239.0).abs() < 3.0, "{seen:?}");
            assert!(seen.from_ns < seen.centre_ns && seen.centre_ns < seen.to_ns, "{seen:?}");
        }
    }

    #[test]
    fn smooth_laws_have_no_upper_mode() {
        for seed in 0..40 {
            for n in [200, 2_000, 20_000] {
                for sigma in [0.1, 0.5, 1.0, 2.0] {
                    let seen =
                        upper_mode(&histogram(n, seed, |r| 5.0 * MS * (sigma * r.normal()).exp()));
                    assert_eq!(seen, None, "log-normal {sigma}, {n} values, seed {seed}");
                }
                let seen = upper_mode(&histogram(n, seed, |r| -5.0 * MS * (1.0 - r.unit()).ln()));
                assert_eq!(seen, None, "exponential, {n} values, seed {seed}");
                let seen = upper_mode(&histogram(n, seed, |r| 5.0 * MS * r.unit()));
                assert_eq!(seen, None, "uniform, {n} values, seed {seed}");
                let seen = upper_mode(&histogram(n, seed, |r| MS / (1.0 - r.unit())));
                assert_eq!(seen, None, "Pareto, {n} values, seed {seed}");
            }
        }
    }

    #[test]
    fn wide_and_lone_values_are_no_mode() {
        // A wide second hump, from twice to ten times the first.
        let wide = histogram(20_000, 2, |random| {
            if random.unit() < 0.1 { MS * (20.0 + 80.0 * random.unit()) } else { 10.0 * MS }
        });
        assert_eq!(upper_mode(&wide), None);
        let lone = histogram(10_000, 3, |random| {
            if random.unit() < 0.000_5 { 225.0 * MS } else { MS * (1.0 + random.unit()) }
        });
        assert_eq!(upper_mode(&lone), None);
        assert_eq!(upper_mode(&crate::histogram::new()), None);
    }
}
