//! When sites of allocation must not be ranked.
//!
//! In a tight loop of one thread the sampler hits some sites and misses others by accident of the
//! buffers: one site takes 40 to 55 % of the bytes and another one in the next run, while the
//! total stays within a few per cent. One recording cannot show that; two of the same work can.

use record::recording::{Allocation, RecordingDigest};

/// Why one thread's sites are no ranking.
pub(super) const SINGLE_THREAD: &str =
    "in a tight loop of one thread the sampler gives a random site the bytes of all";
/// Totals of two recordings of the same work differ by less.
const TOTAL_SHARE: f64 = 0.05;
/// A site whose share differs by more is ranked by accident.
const SITE_SHARE: f64 = 0.10;

/// Suppresses the ranking of sites where two of the recordings, each with one thread that
/// allocates, agree in total and disagree about a site. Rows stay for programs; pages show the
/// total alone.
pub fn suppress_unstable(digests: &mut [&mut RecordingDigest]) {
    for at in 0..digests.len() {
        for other in 0..digests.len() {
            let (Some(mine), Some(theirs)) = (single(digests[at]), single(digests[other])) else {
                continue;
            };
            if at != other
                && let Some(reason) = disagreement(mine, theirs)
                && let Some(panel) = &mut digests[at].panels.allocation_by_site
            {
                panel.suppressed = Some(reason);
            }
        }
    }
}

fn single(digest: &RecordingDigest) -> Option<&Allocation> {
    let panel = digest.panels.allocation_by_site.as_ref()?;
    panel.notes.iter().any(|note| note.contains(SINGLE_THREAD)).then_some(panel)
}

fn disagreement(mine: &Allocation, theirs: &Allocation) -> Option<String> {
    let (low, high) = (
        mine.total_bytes.min(theirs.total_bytes) as f64,
        mine.total_bytes.max(theirs.total_bytes) as f64,
    );
    if high - low > TOTAL_SHARE * high {
        return None;
    }
    let share = |panel: &Allocation, name: &str| {
        panel.rows.iter().find(|row| row.name == name).map_or(0.0, |row| row.share)
    };
    let names = mine.rows.iter().chain(&theirs.rows).map(|row| row.name.as_str());
    let (name, a, b) = names
        .map(|name| (name, share(mine, name), share(theirs, name)))
        .max_by(|x, y| (x.1 - x.2).abs().total_cmp(&(y.1 - y.2).abs()))?;
    ((a - b).abs() > SITE_SHARE).then(|| {
        format!(
            "no ranking: {name} has {:.0} % of the bytes here and {:.0} % in another recording \
             whose total differs by {:.1} %; {SINGLE_THREAD}",
            a * 100.0,
            b * 100.0,
            100.0 * (high - low) / high.max(1.0)
        )
    })
}
