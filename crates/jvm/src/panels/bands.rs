//! Where a figure lies in a band that somebody set: reported, never judged.

use record::recording::Band;

/// The word of a band for samples with any frame of own code.
pub const OWN: &str = "own";

/// A share against its band.
pub(super) fn band(package: &str, share: f64, low_share: f64, high_share: f64) -> Band {
    let verdict = verdict(share, low_share, high_share).to_owned();
    Band { package: package.to_owned(), low_share, high_share, share, verdict }
}

/// `below`, `above` or `within`.
pub(super) fn verdict(value: f64, low: f64, high: f64) -> &'static str {
    match value {
        value if value < low => "below",
        value if value > high => "above",
        _ => "within",
    }
}
