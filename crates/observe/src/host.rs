//! The host as a whole: how busy it is, what it can tell of frequency and temperature, and who
//! else uses it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use record::resources::{Edge, HostRow};

use crate::procfs::{Table, kib_field_bytes};
use crate::state;
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
        let stat = fs::read_to_string(self.proc.join("stat")).ok();
        let cpu = stat.as_deref().and_then(|text| parse_cpu(text, self.tick_ns));
        let load = fs::read_to_string(self.proc.join("loadavg")).ok();
        let memory = fs::read_to_string(self.proc.join("meminfo")).ok();
        let (foreign, foreign_all_share) = self.foreign(t_ns, table, part_takers).unzip();
        let foreign = foreign.flatten();
        HostRow {
            t_ns,
            edge,
            busy_ns: cpu.map(|cpu| cpu.busy_ns),
            idle_ns: cpu.map(|cpu| cpu.idle_ns),
            steal_ns: cpu.and_then(|cpu| cpu.steal_ns),
            load_1m: load.and_then(|text| text.split_ascii_whitespace().next()?.parse().ok()),
            frequency_hz: self.frequency_hz(),
            temperature_millicelsius: state::temperature_millicelsius(&self.sys),
            memory_available_bytes: memory.and_then(|text| kib_field_bytes(&text, "MemAvailable")),
            frequency_share: self.frequency_share(),
            interrupts: stat.as_deref().and_then(parse_interrupts),
            throttled_ns: state::throttled_ns(&self.proc, &self.sys),
            thermal_throttles: state::thermal_throttles(&self.sys),
            time_wait: state::time_wait(&self.proc),
            foreign_all_share,
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

    /// Mean over the cores of what each runs at, as a share of its own highest: an efficient core
    /// at its highest is no slow core, and a mean over types is no clock of anything.
    fn frequency_share(&self) -> Option<f64> {
        let cores = fs::read_dir(self.sys.join("devices/system/cpu")).ok()?;
        let number = |path: PathBuf| -> Option<f64> { state::word(&path)?.parse().ok() };
        let shares: Vec<f64> = cores
            .flatten()
            .filter_map(|core| {
                let folder = core.path().join("cpufreq");
                let now = number(folder.join("scaling_cur_freq"))?;
                let most = number(folder.join("cpuinfo_max_freq")).filter(|most| *most > 0.0)?;
                Some(now / most)
            })
            .collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// The busiest process that takes no part, if any did anything, and what all of them used.
    /// `None` for the first sample.
    fn foreign(
        &mut self,
        t_ns: u64,
        table: &Table,
        part_takers: &HashSet<u32>,
    ) -> Option<(Option<Foreign>, f64)> {
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
        let share = |ticks: u64| ticks as f64 * self.tick_ns as f64 / elapsed_ns as f64;
        let all = share(now.iter().map(|(key, ticks)| used(key, ticks)).sum());
        let busiest = now
            .iter()
            .map(|(key, ticks)| (*key, used(key, ticks)))
            .filter(|(_, ticks)| *ticks > 0)
            // Of equals the older one, so that a sample can be repeated.
            .max_by_key(|((pid, _), ticks)| (*ticks, std::cmp::Reverse(*pid)));
        let busiest = busiest.and_then(|((pid, _), ticks)| {
            Some(Foreign { pid, share: share(ticks), name: table.by_pid.get(&pid)?.name.clone() })
        });
        Some((busiest, all))
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

/// The sum at the start of the `intr` line of `/proc/stat`.
fn parse_interrupts(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("intr "))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn everything_a_machine_can_tell() {
        let fixture = Fixture::new();
        fixture.write("proc/stat", "cpu  10 1 20 300 40 2 3 7 5 0\ncpu0 1 2 3 4\nintr 77 1 2\n");
        fixture.write("proc/net/sockstat", "TCP: inuse 1 orphan 0 tw 9 alloc 1 mem 1\n");
        fixture.write("proc/loadavg", "0.75 0.50 0.25 1/100 1234\n");
        fixture.write("proc/meminfo", "MemTotal: 100 kB\nMemAvailable:   64 kB\n");
        for (core, khz) in [("cpu0", "1000000"), ("cpu1", "3000000")] {
            let folder = format!("sys/devices/system/cpu/{core}");
            fixture.write(&format!("{folder}/cpufreq/scaling_cur_freq"), khz);
            fixture.write(&format!("{folder}/cpufreq/cpuinfo_max_freq"), "4000000");
            fixture.write(&format!("{folder}/thermal_throttle/core_throttle_count"), "2");
        }
        for (zone, temperature) in [("thermal_zone0", "41000"), ("thermal_zone1", "52000")] {
            fixture.write(&format!("sys/class/thermal/{zone}/temp"), temperature);
        }
        fixture.write("sys/class/thermal/cooling_device0/temp", "99000");
        let mut sampler = HostSampler::new(&fixture.proc(), &fixture.sys());
        let row = sampler.sample(5, Edge::WindowStart, &Table::default(), &HashSet::new());
        let tick = tick_ns();
        assert_eq!(
            row,
            HostRow {
                t_ns: 5,
                edge: Edge::WindowStart,
                busy_ns: Some(36 * tick),
                idle_ns: Some(340 * tick),
                steal_ns: Some(7 * tick),
                load_1m: Some(0.75),
                frequency_hz: Some(2_000_000_000),
                temperature_millicelsius: Some(52_000),
                memory_available_bytes: Some(65_536),
                frequency_share: Some(0.5),
                interrupts: Some(77),
                throttled_ns: None,
                thermal_throttles: Some(4),
                time_wait: Some(9),
                foreign_all_share: None,
                foreign_pid: None,
                foreign_share: None,
                foreign_name: None,
            }
        );
    }

    #[test]
    fn absent_sensors_are_unknown() {
        let fixture = Fixture::new();
        fixture.write("proc/stat", "ctxt 5\n");
        fixture.write("sys/class/thermal/thermal_zone0/temp", "broken");
        let mut sampler = HostSampler::new(&fixture.proc(), &fixture.sys());
        for edge in [Edge::Sample, Edge::WindowEnd] {
            let row = sampler.sample(1, edge, &Table::read(&fixture.proc()), &HashSet::new());
            let line = crate::csv::host_line(&row);
            assert_eq!(line, format!("1,{},,,,,,,,,,,,,,,,", edge.word()));
        }
    }

    #[test]
    fn old_and_broken_lines_of_the_kernel() {
        let none = parse_cpu("cpu  1 2 3 4 5\n", 1).expect("enough");
        assert_eq!(none, Cpu { busy_ns: 6, idle_ns: 9, steal_ns: None });
        for broken in ["", "cpu  1 2 3", "cpu  1 2 x 4 5", "cpu0 1 2 3 4 5"] {
            assert_eq!(parse_cpu(broken, 1), None, "{broken}");
        }
    }

    #[test]
    fn the_busiest_that_takes_no_part() {
        let fixture = Fixture::new();
        let second = 1_000_000_000;
        let per_second = second / tick_ns();
        fixture.process(10, 1, "init", 50, 1);
        fixture.process(11, 10, "target", 0, 2);
        fixture.process(12, 10, "cron", 700, 3);
        let mut sampler = HostSampler::new(&fixture.proc(), &fixture.sys());
        let part_takers = HashSet::from([11]);
        let mut sample = |t_ns| {
            let table = Table::read(&fixture.proc());
            let row = sampler.sample(t_ns, Edge::Sample, &table, &part_takers);
            let named = row.foreign_pid.zip(row.foreign_share).zip(row.foreign_name);
            (named, row.foreign_all_share)
        };
        assert_eq!(sample(second), (None, None), "nothing to compare with");
        fixture.process(11, 10, "target", per_second * 2, 2);
        assert_eq!(sample(2 * second), (None, Some(0.0)), "no foreign process did anything");
        fixture.process(10, 1, "init", 50 + per_second / 10, 1);
        fixture.process(12, 10, "cron", 700 + per_second / 2, 3);
        let (named, all) = sample(4 * second);
        assert_eq!(named, Some(((12, 0.25), "cron".to_owned())));
        assert!((all.expect("known") - 0.3).abs() < 1e-9, "both of them: {all:?}");
        // The same number with another start is another process, and new.
        fixture.process(12, 10, "make) (j", per_second, 9);
        assert_eq!(sample(6 * second), (Some(((12, 0.5), "make) (j".to_owned())), Some(0.5)));
        fixture.remove(12);
        assert_eq!(sample(8 * second), (None, Some(0.0)));
    }
}
