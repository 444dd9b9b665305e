//! A matrix beside the calibration that it was made under: cells above the knee (K-113), and the price
//! of a connection seen twice (K-196).

use std::collections::BTreeMap;

use record::calibration::Calibration;
use record::compare::{Calibrated, PriceCheck};
use record::digest::Digest;
use record::plan::{Model, Plan, RequireCalibration};

/// Two prices agree when they differ by less than this share of the larger, or by the noise floor.
const PRICE_SHARE: f64 = 0.3;

/// What a calibration says of the measured runs of a label.
#[must_use]
pub(crate) fn calibrated(
    calibration: &Calibration,
    plan: Option<&Plan>,
    measured: &[(&str, &Digest)],
) -> Calibrated {
    let asked = plan.and_then(|plan| plan.require.as_ref()?.calibration.clone());
    Calibrated {
        sha256: calibration.sha256.clone(),
        made_utc: calibration.made_utc.clone(),
        of: calibration.of.target.clone(),
        above_knee: above_knee(calibration, &asked.unwrap_or_default(), measured),
        prices: prices(calibration, measured),
    }
}

/// One sentence for each cell whose load is above the share of the knee.
fn above_knee(
    calibration: &Calibration,
    asked: &RequireCalibration,
    measured: &[(&str, &Digest)],
) -> Vec<String> {
    let mut said = BTreeMap::new();
    for (_, digest) in measured {
        let load = &digest.identity.effective.load;
        let Some([_, knee]) = calibration.ramp(&load.connections).and_then(|ramp| ramp.knee) else {
            continue;
        };
        let (at, unit) = match load.model {
            Model::Users(users) => (f64::from(users), " users"),
            Model::Rate(per_s) => (per_s, "/s"),
        };
        if at > knee * asked.knee_share {
            said.entry(digest.cell.clone()).or_insert_with(|| {
                format!(
                    "{}: {at}{unit} are above {} % of the knee at {knee}: it measures queues",
                    digest.cell,
                    asked.knee_share * 100.0
                )
            });
        }
    }
    said.into_values().collect()
}

/// What a run says of connections: mean latency of its successes, ns, and connections opened in its
/// window for each of them.
fn cost(digest: &Digest) -> Option<(f64, f64)> {
    let load = digest.load.as_ref().filter(|load| load.succeeded > 0)?;
    let opened = load.connections.opened_in_window as f64 / load.succeeded as f64;
    Some((load.latency_ns.mean?, opened))
}

/// Pairs of one block whose cells differ in the connection mode alone.
fn prices(calibration: &Calibration, measured: &[(&str, &Digest)]) -> Vec<PriceCheck> {
    let Some(price) = &calibration.price else { return Vec::new() };
    let mut by_arms: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (_, new) in measured {
        if new.identity.effective.load.connections != "new" {
            continue;
        }
        for (_, kept) in measured {
            if kept.block != new.block || !differs_in_mode_alone(kept, new) {
                continue;
            }
            let (Some(one), Some(other)) = (cost(kept), cost(new)) else { continue };
            let avoided = other.1 - one.1;
            if avoided > 0.0 {
                let arms = format!("{} / {}", new.cell, kept.cell);
                by_arms.entry(arms).or_default().push((other.0 - one.0) / avoided);
            }
        }
    }
    by_arms
        .into_iter()
        .map(|(arms, mut values)| {
            let pairs = values.len() as u32;
            values.sort_by(f64::total_cmp);
            let cells_ns = values[values.len() / 2];
            let bound_ns =
                price.noise_floor_ns.max(PRICE_SHARE * cells_ns.abs().max(price.time_ns.abs()));
            PriceCheck {
                arms,
                cells_ns,
                pairs,
                calibration_ns: price.time_ns,
                bound_ns,
                agrees: (cells_ns - price.time_ns).abs() <= bound_ns,
            }
        })
        .collect()
}

fn differs_in_mode_alone(kept: &Digest, new: &Digest) -> bool {
    let one = &kept.identity.effective;
    let mut as_new = one.clone();
    as_new.load.connections.clone_from(&new.identity.effective.load.connections);
    one.load.connections != "new" && as_new == new.identity.effective
}

#[cfg(test)]
mod tests;
