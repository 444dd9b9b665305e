//! Who took part: the facts of a host, the identity of a process, the hash of a file.
//!
//! What cannot be read is absent, never made up.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use record::meta::{HostFacts, ProcessIdentity};
use rustix::process::{Resource, Rlimit, getrlimit};
use sha2::{Digest, Sha256};

use crate::procfs::{Stat, field, kib_field_bytes};

/// Kernel settings that matter to load, under `/proc/sys` with slashes for dots.
const SYSCTLS: [&str; 9] = [
    "net.ipv4.ip_local_port_range",
    "net.core.somaxconn",
    "net.ipv4.tcp_tw_reuse",
    "net.ipv4.tcp_max_syn_backlog",
    "fs.file-max",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "kernel.perf_event_paranoid",
    "vm.swappiness",
];
/// How long Linux keeps a closed connection's port (`TCP_TIMEWAIT_LEN`, not tunable), s.
const TIME_WAIT_S: f64 = 60.0;
/// Hashes that are kept; a matrix has a handful of binaries.
const CACHE_MAX: usize = 256;

/// The facts of this host.
#[must_use]
pub fn host_facts() -> HostFacts {
    let limits = [("nofile", Resource::Nofile), ("nproc", Resource::Nproc)]
        .into_iter()
        .map(|(name, resource)| (name.to_owned(), limit(&getrlimit(resource))))
        .collect();
    let system = rustix::system::uname();
    HostFacts {
        name: system.nodename().to_string_lossy().into_owned(),
        kernel: system.release().to_string_lossy().into_owned(),
        arch: system.machine().to_string_lossy().into_owned(),
        limits,
        ..host_facts_from(Path::new("/proc"), Path::new("/sys"))
    }
}

/// What of [`host_facts`] stands in files.
fn host_facts_from(proc: &Path, sys: &Path) -> HostFacts {
    let sysctls = sysctls(proc, sys);
    let range = sysctls.get("net.ipv4.ip_local_port_range");
    HostFacts {
        cpu_model: cpu_model(proc),
        cores: cores(proc),
        memory_bytes: fs::read_to_string(proc.join("meminfo"))
            .ok()
            .and_then(|text| kib_field_bytes(&text, "MemTotal")),
        governor: governor(sys),
        smt: word(&sys.join("devices/system/cpu/smt/active")).and_then(|word| match &*word {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        }),
        boot_id: word(&proc.join("sys/kernel/random/boot_id")),
        clocksource: word(&sys.join("devices/system/clocksource/clocksource0/current_clocksource")),
        sustainable_connections_per_s: range.and_then(|range| sustainable_connections_per_s(range)),
        sysctls,
        ..HostFacts::default()
    }
}

fn limit(limit: &Rlimit) -> String {
    let side = |side: Option<u64>| side.map_or("unlimited".to_owned(), |n| n.to_string());
    format!("{}/{}", side(limit.current), side(limit.maximum))
}

/// The trimmed content of a small file, if there is any.
fn word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    if text.is_empty() { None } else { Some(text.to_owned()) }
}

/// `model name` on x86-64; where it is missing, as on aarch64, the part as the chip names it.
fn cpu_model(proc: &Path) -> Option<String> {
    let text = fs::read_to_string(proc.join("cpuinfo")).ok()?;
    let of = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    of("model name").or_else(|| {
        let (implementer, part) = of("CPU implementer").zip(of("CPU part"))?;
        Some(format!("implementer {implementer} part {part}"))
    })
}

/// Logical cores online: the `cpuN` lines of `/proc/stat`, whatever this process may use.
fn cores(proc: &Path) -> u32 {
    let text = fs::read_to_string(proc.join("stat")).unwrap_or_default();
    let is_core = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(is_core).count() as u32
}

/// The governor of all cores; several are joined by `+`.
fn governor(sys: &Path) -> Option<String> {
    let mut governors: Vec<String> = fs::read_dir(sys.join("devices/system/cpu"))
        .ok()?
        .flatten()
        .filter_map(|core| word(&core.path().join("cpufreq/scaling_governor")))
        .collect();
    governors.sort_unstable();
    governors.dedup();
    if governors.is_empty() { None } else { Some(governors.join("+")) }
}

fn sysctls(proc: &Path, sys: &Path) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<String, String> = SYSCTLS
        .iter()
        .filter_map(|name| {
            let value = word(&proc.join("sys").join(name.replace('.', "/")))?;
            let value = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            Some(((*name).to_owned(), value))
        })
        .collect();
    // The one in brackets is in effect: `always [madvise] never`.
    let huge = word(&sys.join("kernel/mm/transparent_hugepage/enabled"));
    let chosen = huge.as_deref().and_then(|text| text.split_once('[')?.1.split_once(']'));
    if let Some((chosen, _)) = chosen {
        settings.insert("transparent_hugepage".to_owned(), chosen.to_owned());
    }
    settings
}

/// New connections per second to one address that the ephemeral ports sustain, each port being
/// held for [`TIME_WAIT_S`] after its close.
fn sustainable_connections_per_s(range: &str) -> Option<f64> {
    let mut ends = range.split_ascii_whitespace().map(|end| end.parse::<u32>().ok());
    let (low, high) = (ends.next()??, ends.next()??);
    let ports = high.checked_sub(low)?.checked_add(1)?;
    Some(f64::from(ports) / TIME_WAIT_S)
}

/// The identity of a process, its command line redacted; `None` when it is gone. The version is
/// for the caller to fill in.
#[must_use]
pub fn process_identity(pid: u32) -> Option<ProcessIdentity> {
    let proc = Path::new("/proc");
    let start_ticks = Stat::read(proc, pid)?.start_ticks;
    let dir = proc.join(pid.to_string());
    let command: Vec<String> = fs::read(dir.join("cmdline"))
        .unwrap_or_default()
        .split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect();
    // The kernel ends each argument with a zero: the last piece is none.
    let command = command.split_last().map_or(&[][..], |(_, arguments)| arguments);
    let status = fs::read_to_string(dir.join("status")).unwrap_or_default();
    // Through the link, so that a binary that was replaced since is still the one that runs.
    let link = dir.join("exe");
    let executable = fs::read_link(&link).ok();
    Some(ProcessIdentity {
        pid,
        start_ticks,
        command: record::redact::command(command),
        sha256: executable.as_ref().and_then(|name| cached_sha256(name, &link).ok()),
        executable: executable.map(|path| path.display().to_string()),
        version: None,
        cpus: field(&status, "Cpus_allowed_list").map(str::to_owned),
    })
}

/// SHA-256 of a file, lower-case hex.
///
/// # Errors
/// What the file system reports.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    sha256_of(File::open(path)?)
}

fn sha256_of(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut bytes = vec![0_u8; 1 << 16];
    loop {
        match file.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => hash.update(&bytes[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

type Key = (PathBuf, SystemTime, u64);

/// The hash of what `link` leads to, remembered by name, time of change and size: binaries are
/// large and appear in every run of a matrix.
fn cached_sha256(name: &Path, link: &Path) -> io::Result<String> {
    static CACHE: OnceLock<Mutex<HashMap<Key, String>>> = OnceLock::new();
    let file = File::open(link)?;
    let meta = file.metadata()?;
    let key = (name.to_owned(), meta.modified()?, meta.len());
    let cache = CACHE.get_or_init(Mutex::default);
    // A panic elsewhere cannot have left half an entry.
    let lock = || cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = lock().get(&key) {
        return Ok(known.clone());
    }
    let hash = sha256_of(file)?;
    let mut cache = lock();
    if cache.len() >= CACHE_MAX {
        cache.clear();
    }
    cache.insert(key, hash.clone());
    Ok(hash)
}
