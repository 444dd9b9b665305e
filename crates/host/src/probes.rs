//! Measurements of this machine, each within a bound, all of them in a few seconds: a fixed loop
//! again and again, sleeps, loopback connections, who else works meanwhile, the disk.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use observe::procfs::Table;
use record::host_check::{
    Finding,
    FindingVerdict::{Caution, Good, Told},
};
use record::units::HumanBytes;
use rustix::net::sockopt::set_socket_linger;

use crate::busy::{self, Busy};
use crate::demand::{Connections, Demand};
use crate::finding::{With, finding, not_probed, percent, unknown};
use crate::room::existing;
use crate::roots::Roots;

/// Slices of the fixed loop.
const SLICES: usize = 60;
/// Spread of the slices, as a share of their median, above which the clock wanders.
const FLAT_SHARE_MAX: f64 = 0.05;
/// Sleeps that are asked for, with how many of each.
const SLEEPS: [(u64, usize); 2] = [(1_000_000, 200), (10_000_000, 100)];
/// A machine that oversleeps is cut off here.
const SLEEPS_BOUND: Duration = Duration::from_secs(3);
/// Most loopback connections, and the time that they may take.
const CONNECTIONS_MAX: u32 = 2_000;
const CONNECTIONS_BOUND: Duration = Duration::from_millis(500);
/// Bytes that are written to the disk, in pieces, and the time that they may take.
const WRITTEN_BYTES: u64 = 32 << 20;
const WRITE_BOUND: Duration = Duration::from_secs(2);
/// Runs of a small digest for each second would be a waste of disk time; below this the disk is in
/// the way, bytes per second.
const WRITE_RATE_MIN: f64 = 10e6;

/// What the probes saw.
#[derive(Debug, Clone, PartialEq)]
pub struct Probed {
    /// CPU time of a fixed loop, slice by slice, ns.
    pub slices_ns: Vec<u64>,
    /// Asked and slept.
    pub slept: Vec<Slept>,
    /// Loopback connections per second, opened and closed one after the other.
    pub connections_per_s: Option<f64>,
    /// Bytes per second to the disk, flushed.
    pub write_per_s: Option<f64>,
    /// Who else worked meanwhile.
    pub(crate) busy: Vec<Busy>,
}

/// Sleeps of one length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slept {
    /// Asked, ns.
    pub asked_ns: u64,
    /// Median of what was slept, ns.
    pub p50_ns: u64,
    /// Its 99th percentile, ns.
    pub p99_ns: u64,
}

/// Makes all probes. `out` is where the bench will write; the probe's file is removed. A probe that
/// fails is absent.
#[must_use]
pub fn probe(roots: &Roots, out: &Path) -> Probed {
    let before = Table::read(&roots.proc);
    let began = Instant::now();
    let slept = sleeps();
    let slices_ns = clock::spin::slices(SLICES);
    let connections_per_s = connections().ok().flatten();
    let write_per_s = write_rate(&existing(out)).ok().flatten();
    let after = Table::read(&roots.proc);
    let own = busy::own_line(&after);
    let elapsed_ns = began.elapsed().as_nanos() as u64;
    let busy = busy::between(&before, &after, elapsed_ns, &own);
    Probed { slices_ns, slept, connections_per_s, write_per_s, busy }
}

fn sleeps() -> Vec<Slept> {
    let began = Instant::now();
    let mut all = Vec::new();
    for (asked_ns, count) in SLEEPS {
        let asked = Duration::from_nanos(asked_ns);
        let mut slept: Vec<u64> = Vec::with_capacity(count);
        while slept.len() < count && (slept.is_empty() || began.elapsed() < SLEEPS_BOUND) {
            let start = Instant::now();
            std::thread::sleep(asked);
            slept.push(start.elapsed().as_nanos() as u64);
        }
        slept.sort_unstable();
        let (p50_ns, p99_ns) = (quantile(&slept, 0.5), quantile(&slept, 0.99));
        all.push(Slept { asked_ns, p50_ns, p99_ns });
    }
    all
}

/// The nearest rank of sorted values; 0 without any.
fn quantile(sorted: &[u64], p: f64) -> u64 {
    let rank = (p * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).wrapping_sub(1)).copied().unwrap_or(0)
}

/// Connections to a listener of our own. They are reset at their end, so that the probe leaves no
/// socket in TIME_WAIT.
fn connections() -> std::io::Result<Option<f64>> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    let began = Instant::now();
    let mut made = 0_u32;
    while made < CONNECTIONS_MAX && began.elapsed() < CONNECTIONS_BOUND {
        let client = TcpStream::connect_timeout(&address, CONNECTIONS_BOUND)?;
        let (server, _) = listener.accept()?;
        set_socket_linger(&client, Some(Duration::ZERO))?;
        drop(client);
        drop(server);
        made += 1;
    }
    Ok((made > 0).then(|| f64::from(made) / began.elapsed().as_secs_f64()))
}

fn write_rate(folder: &Path) -> std::io::Result<Option<f64>> {
    let path = folder.join(format!(".assay-probe-{}", std::process::id()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    let result = (|| {
        let piece = vec![0x5a_u8; 1 << 20];
        let began = Instant::now();
        let mut written = 0_u64;
        while written < WRITTEN_BYTES && began.elapsed() < WRITE_BOUND {
            file.write_all(&piece)?;
            written += piece.len() as u64;
        }
        file.sync_data()?;
        Ok(Some(written as f64 / began.elapsed().as_secs_f64()))
    })();
    fs::remove_file(&path)?;
    result
}

/// Whether the fixed loop took the same time again and again, and the spread: from the 5th to the
/// 95th percentile, as a share of the median.
pub(crate) fn flatness(probed: &Probed) -> Option<(bool, f64)> {
    let mut sorted = probed.slices_ns.clone();
    sorted.sort_unstable();
    let middle = quantile(&sorted, 0.5);
    if sorted.len() < 20 || middle == 0 {
        return None;
    }
    let spread = (quantile(&sorted, 0.95) - quantile(&sorted, 0.05)) as f64 / middle as f64;
    Some((spread <= FLAT_SHARE_MAX, spread))
}

pub(crate) fn findings(probed: Option<&Probed>, demand: Option<&Demand>) -> Vec<Finding> {
    vec![flat(probed), connect(probed, demand), disk_write(probed)]
}

/// A probe that was not made, or that failed.
fn absent(probed: Option<&Probed>, name: &str, effect: &str) -> Finding {
    if probed.is_some() { unknown(name, effect) } else { not_probed(name, effect) }
}

fn flat(probed: Option<&Probed>) -> Finding {
    const EFFECT: &str =
        "the same work takes another time now than a moment later, on this very core";
    let Some((is_flat, spread)) = probed.and_then(flatness) else {
        return absent(probed, "flatness", EFFECT);
    };
    let read = format!("a fixed loop varied by {} of its median", percent(spread));
    if is_flat {
        return finding("flatness", Good, read, "the clock held still while it was watched");
    }
    finding("flatness", Caution, read, EFFECT).command("sudo cpupower frequency-set -g performance")
}

fn connect(probed: Option<&Probed>, demand: Option<&Demand>) -> Finding {
    const EFFECT: &str = "what one thread can open and close on loopback";
    let rate = probed.and_then(|probed| probed.connections_per_s);
    let Some(rate) = rate else { return absent(probed, "connections", EFFECT) };
    let read = format!("{rate:.0}/s on loopback");
    let wanted = demand.and_then(|demand| match demand.connections {
        Connections::Opened { per_s } => per_s,
        Connections::Kept => None,
    });
    match wanted {
        Some(wanted) if wanted > rate => finding(
            "connections",
            Caution,
            read,
            format!("the bench wants up to {wanted:.0}/s, more than one thread opened here"),
        ),
        _ => finding("connections", Told, read, EFFECT),
    }
}

fn disk_write(probed: Option<&Probed>) -> Finding {
    const EFFECT: &str = "records are written between runs; a slow disk lengthens the matrix";
    let rate = probed.and_then(|probed| probed.write_per_s);
    let Some(rate) = rate else { return absent(probed, "disk_write", EFFECT) };
    let read = format!("{}/s, flushed", HumanBytes(rate));
    let verdict = if rate < WRITE_RATE_MIN { Caution } else { Good };
    finding("disk_write", verdict, read, EFFECT).command("iostat -x 1 3")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probed(slices_ns: Vec<u64>) -> Probed {
        let busy = Vec::new();
        Probed { slices_ns, slept: Vec::new(), connections_per_s: None, write_per_s: None, busy }
    }

    #[test]
    fn quantiles_by_rank() {
        assert_eq!(quantile(&[], 0.5), 0);
        let sorted: Vec<u64> = (1..=100).collect();
        assert_eq!((quantile(&sorted, 0.5), quantile(&sorted, 0.99)), (50, 99));
        assert_eq!((quantile(&[7], 0.01), quantile(&[7], 1.0)), (7, 7));
    }

    #[test]
    fn a_clock_that_wanders_is_seen_and_one_odd_slice_is_not() {
        let steady = probed(vec![1_000; 60]);
        assert_eq!(flatness(&steady), Some((true, 0.0)));
        let mut one = vec![1_000; 60];
        one[7] = 9_000;
        assert_eq!(flatness(&probed(one)), Some((true, 0.0)));
        let wanders = probed((0..60).map(|slice| 1_000 + slice * 4).collect());
        let (is_flat, spread) = flatness(&wanders).expect("enough slices");
        assert!(!is_flat && spread > 0.18, "{spread}");
        assert_eq!(flatness(&probed(vec![1_000; 5])), None, "too few say nothing");
    }

    /// Real probes: lower bounds only, since a test machine may be as busy as it likes.
    #[test]
    fn the_probes_of_this_machine() {
        let out = tempfile::tempdir().expect("a folder");
        let began = Instant::now();
        let probed = probe(&Roots::live(), &out.path().join("results"));
        assert!(began.elapsed() < Duration::from_secs(60), "bounded");
        assert_eq!(probed.slices_ns.len(), SLICES);
        assert!(probed.slices_ns.iter().all(|ns| *ns > 0));
        for slept in &probed.slept {
            assert!(slept.p50_ns >= slept.asked_ns, "a sleep is never short: {slept:?}");
            assert!(slept.p99_ns >= slept.p50_ns);
        }
        assert!(probed.connections_per_s.expect("loopback is up") > 0.0);
        assert!(probed.write_per_s.expect("a folder of ours") > 0.0);
        let left = fs::read_dir(out.path()).expect("the folder").count();
        assert_eq!(left, 0, "the probe's file is gone");
    }
}
