//! A calibration from the runs of its ramp, checked in order: nothing failed; the lowest point
//! comes back to what it was, and its gap is the noise floor; the knee is where the time that nobody
//! owns leaves its baseline. Throughput is told beside it and decides nothing.

use std::path::Path;

use record::calibration::{CLOSE, Calibration, CalibrationOf, KEEP_ALIVE, Point, Price, Ramp};
use record::digest::Digest;
use record::layout;
use record::meta::Meta;
use record::plan::{Model, RunKind};
use record::seal::Sealed;
use record::units::HumanDuration;
use record::{Effect, Format};
use stats::knee;

use crate::digest::TARGET_ROLES;
use crate::error::EvidenceError;

/// Derives the calibration of a label directory, sealed. Nothing is written.
///
/// # Errors
/// A directory that holds no runs of a ramp, or cannot be read.
pub fn calibration(label: &Path) -> Result<Calibration, EvidenceError> {
    let (digests, made_unix_ns) = read(label)?;
    let first = digests
        .first()
        .ok_or_else(|| EvidenceError::NoRuns { path: label.display().to_string() })?;
    let effective = &first.identity.effective;
    let model = match effective.load.model {
        Model::Users(_) => "closed",
        Model::Rate(_) => "open",
    };
    let target = format!("{}, {}", effective.target.name, effective.scenario.name);
    let mut notes = Vec::new();
    let ramps: Vec<Ramp> = [KEEP_ALIVE, CLOSE]
        .into_iter()
        .filter_map(|mode| ramp(mode, &digests, &mut notes))
        .collect();
    let made_utc = digests.iter().map(|digest| digest.started_utc.clone()).max();
    Ok(Calibration {
        format: Format::v1("assay.calibration"),
        sha256: String::new(),
        made_utc: made_utc.unwrap_or_default(),
        made_unix_ns,
        of: CalibrationOf::of(&first.identity.host, &effective.transport, model, &target),
        price: price(&ramps, &mut notes),
        ramps,
        notes,
        runs: label.display().to_string(),
    }
    .sealed())
}

/// The digests of the measured runs of a ramp, in order of their directories, and when the last of
/// them ended, ns since 1970.
fn read(label: &Path) -> Result<(Vec<Digest>, u64), EvidenceError> {
    let runs = label.join(layout::RUNS);
    let list = |source| EvidenceError::List { path: runs.display().to_string(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&runs).map_err(list)? {
        let path = entry.map_err(list)?.path();
        if path.join(layout::DIGEST_JSON).is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    let mut digests: Vec<Digest> = Vec::new();
    let mut ended_unix_ns = 0;
    for path in paths {
        let digest: Digest = layout::read_json(&path.join(layout::DIGEST_JSON))?;
        let meta: Meta = layout::read_json(&path.join(layout::META))?;
        let started = meta.started_unix_ns.unwrap_or(0);
        ended_unix_ns = ended_unix_ns.max(started.saturating_add(meta.elapsed_ns.unwrap_or(0)));
        if digest.kind == RunKind::Measured && level(&digest, "point").is_some() {
            digests.push(digest);
        }
    }
    Ok((digests, ended_unix_ns))
}

fn level<'d>(digest: &'d Digest, factor: &str) -> Option<&'d str> {
    digest.levels.iter().find(|level| level.factor == factor).map(|level| level.level.as_str())
}

fn ramp(mode: &str, digests: &[Digest], notes: &mut Vec<String>) -> Option<Ramp> {
    let of_mode = || digests.iter().filter(|digest| level(digest, "mode") == Some(mode));
    let is_again =
        |digest: &&Digest| level(digest, "point").is_some_and(|name| name.starts_with("again-"));
    let mut points: Vec<Point> = of_mode().filter(|d| !is_again(d)).map(point).collect();
    points.sort_by(|one, other| one.load.total_cmp(&other.load));
    let repeat = of_mode().find(is_again).map(point);
    if points.is_empty() {
        return None;
    }
    let failed: u64 = points.iter().chain(&repeat).map(|point| point.failed).sum();
    if failed > 0 {
        notes.push(format!("{mode}: {failed} requests failed: no knee, no floor, no price"));
    }
    let owned = points.iter().chain(&repeat).all(|point| point.unowned_mean_ns.is_some());
    let basis = if owned { "unowned" } else { "wait" };
    if !owned {
        notes.push(format!(
            "{mode}: the target does not say what it spends (`Server-Timing`); the knee is that of \
             the whole wait"
        ));
    }
    let of = |point: &Point| {
        if owned { point.unowned_mean_ns } else { point.wait_mean_ns }
    };
    let values: Vec<Option<f64>> = points.iter().map(of).collect();
    let floor = values[0].zip(repeat.as_ref().and_then(of));
    let noise_floor_ns = floor.map(|(first, again)| (again - first).abs()).filter(|_| failed == 0);
    if noise_floor_ns.is_none() && failed == 0 {
        notes.push(format!("{mode}: the lowest point was not repeated: no noise floor, no knee"));
    }
    let knee = noise_floor_ns.zip(values[0]).and_then(|(floor, baseline)| {
        let knee = knee::leaves_baseline(&values, baseline, floor)?;
        Some([points[knee.last_below].load, points[knee.first_above].load])
    });
    let rates: Vec<(f64, f64)> =
        points.iter().map(|point| (point.load, point.rate_per_s)).collect();
    let plateau = knee::plateau(&rates).map(|index| points[index].load);
    if failed == 0 {
        disagreement(mode, knee, plateau, notes);
    }
    for point in points.iter().chain(&repeat).filter(|point| !point.doubts.is_empty()) {
        notes.push(format!("{mode}, {}: {}", point.load, point.doubts.join(", ")));
    }
    Some(Ramp {
        mode: mode.to_owned(),
        points,
        repeat,
        basis: basis.to_owned(),
        noise_floor_ns,
        knee,
        plateau,
    })
}

/// What the rule of throughput says otherwise.
fn disagreement(mode: &str, knee: Option<[f64; 2]>, plateau: Option<f64>, notes: &mut Vec<String>) {
    match (knee, plateau) {
        (Some([_, above]), Some(plateau)) if plateau < above => notes.push(format!(
            "{mode}: throughput stops growing at {plateau}, before the knee at {above}: users who \
             wait send no more, which is no limit of the target"
        )),
        (Some([_, above]), None) => notes.push(format!(
            "{mode}: throughput still grows where requests wait already: the knee is at {above}"
        )),
        (None, Some(plateau)) => notes.push(format!(
            "{mode}: throughput stops growing at {plateau} and nothing waits: no knee in this ramp"
        )),
        _ => {}
    }
}

fn point(digest: &Digest) -> Point {
    let load = digest.load.as_ref();
    let asked = match digest.identity.effective.load.model {
        Model::Users(users) => f64::from(users),
        Model::Rate(per_s) => per_s,
    };
    let succeeded = load.map_or(0, |load| load.succeeded);
    let each =
        |ns: Option<u64>| ns.filter(|_| succeeded > 0).map(|ns| ns as f64 / succeeded as f64);
    let target = TARGET_ROLES.iter().find_map(|role| digest.resources.get(*role));
    let unowned =
        load.map(|load| &load.unowned_ns).filter(|one| one.count > 0 && one.count == succeeded);
    Point {
        load: asked,
        rate_per_s: load.map_or(0.0, |load| load.rate_per_s),
        failed: load.map_or(0, |load| load.failed),
        wait_mean_ns: load.and_then(|load| load.latency_ns.mean),
        unowned_mean_ns: unowned.and_then(|unowned| unowned.mean),
        unowned_p99_ns: unowned.and_then(|unowned| unowned.p99),
        connections_per_request: load
            .map_or(0.0, |load| load.connections.opened_in_window as f64 / succeeded.max(1) as f64),
        target_cpu_ns: each(target.and_then(|target| target.cpu_ns)),
        generator_cpu_ns: each(
            load.map(|load| load.generator.cpu_user_ns + load.generator.cpu_sys_ns),
        ),
        doubts: digest
            .validity
            .reasons
            .iter()
            .filter(|reason| reason.effect != Effect::Flag)
            .map(|reason| format!("{}: {}", reason.gate, reason.detail))
            .collect(),
    }
}

/// What a connection costs: the lowest points of both modes apart.
fn price(ramps: &[Ramp], notes: &mut Vec<String>) -> Option<Price> {
    let ramp = |mode: &str| ramps.iter().find(|ramp| ramp.mode == mode);
    let (kept, new) = (ramp(KEEP_ALIVE)?, ramp(CLOSE)?);
    let noise_floor_ns = kept.noise_floor_ns?.max(new.noise_floor_ns?);
    let (one, other) = (kept.points.first()?, new.points.first()?);
    let both_owned = kept.basis == "unowned" && new.basis == "unowned";
    let of = |point: &Point| if both_owned { point.unowned_mean_ns } else { point.wait_mean_ns };
    let cpu = |one: Option<f64>, other: Option<f64>| Some(other? - one?);
    let time_ns = of(other)? - of(one)?;
    if time_ns <= noise_floor_ns {
        notes.push(format!(
            "the price of a connection, {}, is not above the noise floor of {}",
            HumanDuration(time_ns.max(0.0)),
            HumanDuration(noise_floor_ns)
        ));
    }
    Some(Price {
        time_ns,
        noise_floor_ns,
        target_cpu_ns: cpu(one.target_cpu_ns, other.target_cpu_ns),
        generator_cpu_ns: cpu(one.generator_cpu_ns, other.generator_cpu_ns),
    })
}

#[cfg(test)]
mod tests;
