//! The host as a whole: how busy it is, what it can tell of frequency and temperature, and who
//! else uses it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use record::resources::{Edge, HostRow};

use crate::procfs::{Table, kib_field_bytes};
use crate::tree::tick_ns;

/// Samples the host.
#[derive(Debug)]
pub struct HostSampler {
    proc: PathBuf,
    sys: PathBuf,
    tick_ns: u64,
    /// What foreign processes had used at the previous sample, and when that was.
    previous: Option<(u64, Ticks)>,
}

/// CPU ticks by pid and start.
type Ticks = HashMap<(u32, u64), u64>;

impl HostSampler {
    /// A sampler over the trees of files at `proc` (`/proc`) and `sys` (`/sys`).
    #[must_use]
    pub fn new(proc: &Path, sys: &Path) -> Self {
        Self { proc: proc.to_owned(), sys: sys.to_owned(), tick_ns: tick_ns(), previous: None }
    }

    /// Takes a sample at `t_ns`, the moment when `table` was read. `part_takers` are the pids
    /// that are no foreign processes. The first sample knows no busiest foreign process: there
    /// is nothing to compare with.
    pub fn sample(
        &mut self,
        t_ns: u64,
        edge: Edge,
        table: &Table,
        part_takers: &HashSet<u32>,
    ) -> HostRow {
        let cpu = fs::read_to_string(self.proc.join("stat")).ok();
        let cpu = cpu.as_deref().and_then(|text| parse_cpu(text, self.tick_ns));
        let load = fs::read_to_string(self.proc.join("loadavg")).ok();
        let memory = fs::read_to_string(self.proc.join("meminfo")).ok();
        let foreign = self.busiest_foreign(t_ns, table, part_takers);
        HostRow {
            t_ns,
            edge,
            busy_ns: cpu.map(|cpu| cpu.busy_ns),
            idle_ns: cpu.map(|cpu| cpu.idle_ns),
            steal_ns: cpu.and_then(|cpu| cpu.steal_ns),
            load_1m: load.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok()),
            frequency_hz: self.frequency_hz(),
            temperature_millicelsius: self.temperature_millicelsius(),
            memory_available_bytes: memory.and_then(|text| kib_field_bytes(&text, "MemAvailable")),
            foreign_pid: foreign.as_ref().map(|foreign| foreign.pid),
            foreign_share: foreign.as_ref().map(|foreign| foreign.share),
            foreign_name: foreign.map(|foreign| foreign.name),
        }
    }

    /// Mean over the cores that tell.
    fn frequency_hz(&self) -> Option<u64> {
        let cores = fs::read_dir(self.sys.join("devices/system/cpu")).ok()?;
        let khz: Vec<u64> = cores
            .flatten()
            .filter_map(|core| {
                let file = core.path().join("cpufreq/scaling_cur_freq");
                fs::read_to_string(file).ok()?.trim().parse().ok()
            })
            .collect();
        let mean = khz.iter().sum::<u64>().checked_div(khz.len() as u64)?;
        mean.checked_mul(1000)
    }

    /// The hottest zone that tells.
    fn temperature_millicelsius(&self) -> Option<i64> {
        fs::read_dir(self.sys.join("class/thermal"))
            .ok()?
            .flatten()
            .filter(|zone| zone.file_name().to_string_lossy().starts_with("thermal_zone"))
            .filter_map(|zone| {
                fs::read_to_string(zone.path().join("temp")).ok()?.trim().parse().ok()
            })
            .max()
    }

    fn busiest_foreign(
        &mut self,
        t_ns: u64,
        table: &Table,
        part_takers: &HashSet<u32>,
    ) -> Option<Foreign> {
        let now: Ticks = table
            .by_pid
            .values()
            .filter(|stat| !part_takers.contains(&stat.pid))
            .map(|stat| ((stat.pid, stat.start_ticks), stat.ticks()))
            .collect();
        let (before_ns, before) = self.previous.replace((t_ns, now))?;
        let now = &self.previous.as_ref()?.1;
        let elapsed_ns = t_ns.checked_sub(before_ns).filter(|elapsed| *elapsed > 0)?;
        // One that is new since then has used all of its CPU since then.
        let used = |key: &(u32, u64), ticks: &u64| {
            ticks.saturating_sub(before.get(key).copied().unwrap_or(0))
        };
        let ((pid, _), ticks) = now
            .iter()
            .map(|(key, ticks)| (*key, used(key, ticks)))
            .filter(|(_, ticks)| *ticks > 0)
            // Of equals the older one, so that a sample can be repeated.
            .max_by_key(|((pid, _), ticks)| (*ticks, std::cmp::Reverse(*pid)))?;
        Some(Foreign {
            pid,
            share: ticks as f64 * self.tick_ns as f64 / elapsed_ns as f64,
            name: table.by_pid.get(&pid)?.name.clone(),
        })
    }
}

#[derive(Debug)]
struct Foreign {
    pid: u32,
    share: f64,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cpu {
    busy_ns: u64,
    idle_ns: u64,
    steal_ns: Option<u64>,
}

/// The sum line of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal. Guest
/// time is part of user time already. Old kernels have fewer fields.
fn parse_cpu(text: &str, tick_ns: u64) -> Option<Cpu> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let sum = |fields: &[usize]| -> u64 {
        let ticks: u64 = fields.iter().filter_map(|&field| ticks.get(field)).sum();
        ticks.saturating_mul(tick_ns)
    };
    if ticks.len() < 4 {
        return None;
    }
    Some(Cpu {
        busy_ns: sum(&[0, 1, 2, 5, 6]),
        idle_ns: sum(&[3, 4]),
        steal_ns: ticks.get(7).map(|_| sum(&[7])),
    })
}
