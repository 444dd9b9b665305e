//! The page of a calibration: a table for each connection mode, the price of a connection, notes.

use record::calibration::{Calibration, Point, Ramp};
use record::compare::Calibrated;

use crate::text::{NONE, columns, count, duration, duration_f, number};

/// Renders a calibration for the terminal, at most 100 columns apart from long notes.
#[must_use]
pub fn calibration_text(calibration: &Calibration) -> String {
    let of = &calibration.of;
    let mut text = format!(
        "calibration of {} over {}, {} loop, on {} ({} cores), kernel {}\n",
        of.target, of.transport, of.model, of.host, of.cores, of.kernel
    );
    for one in &calibration.ramps {
        text.push_str(&format!("\n{}\n{}", one.mode, ramp(one, &of.model)));
        let floor =
            one.noise_floor_ns.map_or_else(|| "unknown".to_owned(), |ns| duration_f(Some(ns)));
        let knee = one.knee.map_or_else(
            || "none in this ramp".to_owned(),
            |[below, above]| format!("between {} and {}", number(below), number(above)),
        );
        text.push_str(&format!("noise floor {floor}; knee, by {}: {knee}\n", one.basis));
    }
    if let Some(price) = &calibration.price {
        text.push_str(&format!(
            "\na connection costs {} (noise floor {}), CPU of the target {}, of the generator {}\n",
            duration_f(Some(price.time_ns)),
            duration_f(Some(price.noise_floor_ns)),
            duration_f(price.target_cpu_ns),
            duration_f(price.generator_cpu_ns)
        ));
    }
    if !calibration.notes.is_empty() {
        text.push('\n');
    }
    for note in &calibration.notes {
        text.push_str(&format!("- {note}\n"));
    }
    text.push_str(&format!("\nmade {}, sha256 {}\n", calibration.made_utc, calibration.sha256));
    text
}

fn ramp(ramp: &Ramp, model: &str) -> String {
    let load = if model == "open" { "rate/s" } else { "users" };
    let head =
        [load, "served/s", "wait", "unowned", "p99", "conn/req", "target CPU", "generator CPU"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(ramp.points.iter().map(|one| point(one, "")));
    lines.extend(ramp.repeat.iter().map(|one| point(one, " again")));
    columns(&lines, "rrrrrrrr")
}

fn point(point: &Point, mark: &str) -> Vec<String> {
    let cpu = |ns: Option<f64>| ns.map_or_else(|| NONE.to_owned(), |ns| duration_f(Some(ns)));
    vec![
        format!("{}{mark}", count(point.load as u64)),
        number(point.rate_per_s),
        duration_f(point.wait_mean_ns),
        duration_f(point.unowned_mean_ns),
        duration(point.unowned_p99_ns),
        format!("{:.2}", point.connections_per_request),
        cpu(point.target_cpu_ns),
        cpu(point.generator_cpu_ns),
    ]
}

/// What a heading says of the calibration that a matrix was made under.
pub(crate) fn of_matrix(calibrated: &Calibrated) -> Vec<String> {
    let sha256 = calibrated.sha256.get(..8).unwrap_or(&calibrated.sha256);
    let mut lines =
        vec![format!("calibrated {} on {} ({sha256})", calibrated.made_utc, calibrated.of)];
    lines.extend(calibrated.above_knee.iter().cloned());
    lines.extend(calibrated.prices.iter().map(|price| {
        let word = if price.agrees { "agree" } else { "DISAGREE" };
        format!(
            "price of a connection: cells {} ({}, n = {}), calibration {}: they {word} to {}",
            duration_f(Some(price.cells_ns)),
            price.arms,
            price.pairs,
            duration_f(Some(price.calibration_ns)),
            duration_f(Some(price.bound_ns))
        )
    }));
    lines
}
