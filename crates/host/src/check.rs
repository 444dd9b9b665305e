//! The whole check, in the order in which it is shown.

use std::path::Path;

use clock::{Clock, Monotonic};
use record::host_check::{Finding, HostCheck};

use crate::demand::Demand;
use crate::probes::{self, Probed, flatness, probe};
use crate::roots::Roots;
use crate::{busy, cgroup, class, cores, network, power, room, timers};

/// What is asked of a check.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Where facts are read.
    pub roots: &'a Roots,
    /// What a bench needs; without it machines are judged for no bench in particular.
    pub demand: Option<&'a Demand>,
    /// Where results are written; `None` for a copied tree, whose disk is not here.
    pub out: Option<&'a Path>,
    /// Whether this machine is probed as well: never for a copied tree.
    pub probes: bool,
}

/// Facts, and probes where they are asked for.
#[must_use]
pub fn check(asked: &Asked<'_>) -> HostCheck {
    let began_ns = Monotonic.now_ns();
    let probed = asked.out.filter(|_| asked.probes).map(|out| probe(asked.roots, out));
    let findings = findings(asked, probed.as_ref());
    let host = asked.roots.proc("sys/kernel/hostname").unwrap_or_else(|| "unknown".to_owned());
    let bench = asked.demand.map(|demand| demand.bench.clone());
    let mut check = HostCheck::of(host, bench, probed.is_some(), findings);
    check.elapsed_ns = Monotonic.now_ns() - began_ns;
    check
}

/// Facts alone: files, read in a few milliseconds.
#[must_use]
pub fn facts(roots: &Roots, demand: Option<&Demand>, out: Option<&Path>) -> HostCheck {
    check(&Asked { roots, demand, out, probes: false })
}

fn findings(asked: &Asked<'_>, probed: Option<&Probed>) -> Vec<Finding> {
    let Asked { roots, demand, .. } = *asked;
    let flat = probed.and_then(flatness).map(|(is_flat, _)| is_flat);
    let mut findings = vec![class::identity(roots)];
    findings.extend(class::findings(roots));
    findings.extend(cores::findings(roots, flat));
    findings.extend(power::findings(roots));
    findings.extend(cgroup::findings(roots));
    findings.extend(busy::findings(roots, probed.map(|probed| &*probed.busy)));
    findings.extend(timers::findings(roots, probed));
    findings.extend(network::findings(roots, demand));
    findings.push(room::nofile(roots, demand));
    findings.push(room::disk(asked.out, demand));
    findings.extend(probes::findings(probed, demand));
    findings
}
