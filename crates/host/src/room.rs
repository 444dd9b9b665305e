//! Room for a bench: descriptors (E-019) and disk.

use std::path::{Path, PathBuf};

use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told, Unfit},
};
use record::units::HumanBytes;

use crate::demand::{Demand, SPARE_DESCRIPTORS};
use crate::finding::{With, finding, plural, unknown};
use crate::roots::Roots;

/// A hard limit below this refuses benches that nobody would call large.
const DESCRIPTORS_MIN: u64 = 1_024;
/// The disk should hold so many times what a bench is estimated to write.
const DISK_SPARE: f64 = 1.5;
/// Least room for a bench that nobody named, bytes.
const DISK_MIN: u64 = 1 << 30;

/// Limits on open descriptors: the soft one, the hard one; `None` is unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptors {
    /// What a process starts with.
    pub soft: Option<u64>,
    /// What it may raise that to.
    pub hard: Option<u64>,
}

/// The limits of this process: `self/limits`.
#[must_use]
pub fn descriptors(roots: &Roots) -> Option<Descriptors> {
    let text = roots.proc("self/limits")?;
    let rest = text.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = rest.split_ascii_whitespace();
    let mut limit = || match words.next()? {
        "unlimited" => Some(None),
        number => number.parse().ok().map(Some),
    };
    Some(Descriptors { soft: limit()?, hard: limit()? })
}

pub(crate) fn nofile(roots: &Roots, demand: Option<&Demand>) -> Finding {
    const EFFECT: &str = "a connection that gets no descriptor reads as a failure of the target";
    let Some(limits) = descriptors(roots) else { return unknown("nofile", EFFECT) };
    let shown = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |n| n.to_string());
    let read = format!("{}, may be raised to {}", shown(limits.soft), shown(limits.hard));
    let hard = limits.hard.unwrap_or(u64::MAX);
    let needed = demand.map_or(DESCRIPTORS_MIN, Demand::descriptors);
    let most = needed.max(65_536);
    let command = format!("sudo prlimit --pid $$ --nofile={most}:{most}");
    let sum = |demand: &Demand| {
        format!("{} + {SPARE_DESCRIPTORS} others = {needed}", plural(demand.users, "user"))
    };
    match demand {
        Some(demand) if needed > hard => finding(
            "nofile",
            Unfit,
            read,
            format!("{} are more than {hard}: {EFFECT}", sum(demand)),
        )
        .command(command),
        Some(demand) => finding("nofile", Good, read, format!("{} fit", sum(demand))),
        None if needed > hard => finding("nofile", Caution, read, EFFECT).command(command),
        None => finding(
            "nofile",
            Good,
            read,
            format!("room for {}", plural(hard.saturating_sub(SPARE_DESCRIPTORS), "user")),
        ),
    }
}

/// Room on the disk that holds `out`, or that will. `None` for a copied tree.
pub(crate) fn disk(out: Option<&Path>, demand: Option<&Demand>) -> Finding {
    const EFFECT: &str = "a disk that fills up ends the matrix, and slows before";
    let free = out.and_then(|out| {
        let stat = rustix::fs::statvfs(existing(out)).ok()?;
        Some(stat.f_bavail.saturating_mul(stat.f_frsize))
    });
    let Some(free) = free else { return unknown("disk", EFFECT) };
    let human = |bytes: u64| HumanBytes(bytes as f64).to_string();
    let read = format!("{} free", human(free));
    let Some(demand) = demand else {
        let verdict = if free < DISK_MIN { Caution } else { Told };
        return finding("disk", verdict, read, EFFECT).command("df -h .");
    };
    let runs = demand.runs.max(1);
    let sum = format!(
        "{} x {} = {}",
        plural(demand.runs, "run"),
        human(demand.disk_bytes / runs),
        human(demand.disk_bytes)
    );
    if (free as f64) < demand.disk_bytes as f64 * DISK_SPARE {
        return finding("disk", Unfit, read, format!("{sum}; {EFFECT}")).command("df -h .");
    }
    finding("disk", Good, read, format!("{sum}, without what targets write"))
}

/// The nearest folder that exists.
pub(crate) fn existing(out: &Path) -> PathBuf {
    let absolute = std::path::absolute(out).unwrap_or_else(|_| out.to_owned());
    let folder = absolute.ancestors().find(|folder| folder.is_dir());
    folder.map_or_else(|| PathBuf::from("/"), Path::to_owned)
}
