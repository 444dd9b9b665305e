//! Who took part: the facts of a host, the identity of a process, the hash of a file.
//!
//! What cannot be read is absent, never made up.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use record::meta::{HostFacts, ProcessIdentity};
use rustix::process::{Resource, Rlimit, getrlimit};
use sha2::{Digest, Sha256};

use crate::procfs::{Stat, field, kib_field_bytes};
use crate::state::{governor, word};

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
/// How often a command line that is still empty is read, once a millisecond.
const COMMAND_LINE_TRIES: u32 = 200;
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
    let status = fs::read_to_string(dir.join("status")).unwrap_or_default();
    // Through the link, so that a binary that was replaced since is still the one that runs.
    let link = dir.join("exe");
    let executable = fs::read_link(&link).ok();
    Some(ProcessIdentity {
        pid,
        start_ticks,
        command: record::redact::command(&command_line(&dir)),
        sha256: executable.as_ref().and_then(|name| cached_sha256(name, &link).ok()),
        executable: executable.map(|path| path.display().to_string()),
        version: None,
        cpus: field(&status, "Cpus_allowed_list").map(str::to_owned),
    })
}

/// The arguments of a process; empty when they cannot be read.
///
/// A process that was started a moment ago may have run exec, as its parent sees it, without
/// having its arguments in place: the kernel sets them last. So an empty line of a process that
/// has an executable (a kernel thread has none) is read again, for a bounded time.
fn command_line(dir: &Path) -> Vec<String> {
    let mut bytes = Vec::new();
    for _ in 0..COMMAND_LINE_TRIES {
        bytes = fs::read(dir.join("cmdline")).unwrap_or_default();
        if !bytes.is_empty() || fs::read_link(dir.join("exe")).is_err() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    // The kernel ends each argument with a zero.
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(&bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes
        .split(|&byte| byte == 0)
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn facts_of_a_whole_machine() {
        let fixture = Fixture::new();
        fixture.write("proc/cpuinfo", "processor : 0\nmodel name\t: Fast CPU @ 3 GHz\n");
        fixture.write("proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu11 1 2 3 4\nctxt 5\n");
        fixture.write("proc/meminfo", "MemTotal:  2048 kB\n");
        fixture.write("proc/sys/kernel/random/boot_id", "abc-def\n");
        fixture.write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
        fixture.write("proc/sys/net/core/somaxconn", "4096\n");
        fixture.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        fixture.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
        fixture.write("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
        fixture.write("sys/devices/system/cpu/smt/active", "0\n");
        let clocksource = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        fixture.write(clocksource, "tsc\n");
        let facts = host_facts_from(&fixture.proc(), &fixture.sys());
        insta::assert_json_snapshot!(facts, @r#"
        {
          "name": "",
          "kernel": "",
          "arch": "",
          "cpu_model": "Fast CPU @ 3 GHz",
          "cores": 2,
          "memory_bytes": 2097152,
          "governor": "performance+powersave",
          "smt": false,
          "boot_id": "abc-def",
          "clocksource": "tsc",
          "limits": {},
          "sysctls": {
            "net.core.somaxconn": "4096",
            "net.ipv4.ip_local_port_range": "32768 60999",
            "transparent_hugepage": "madvise"
          },
          "sustainable_connections_per_s": 470.53333333333336
        }
        "#);
    }

    #[test]
    fn facts_of_a_machine_that_tells_nothing() {
        let fixture = Fixture::new();
        let facts = host_facts_from(&fixture.proc(), &fixture.sys());
        assert_eq!(facts, HostFacts::default());
    }

    #[test]
    fn facts_of_this_machine() {
        let facts = host_facts();
        assert!(facts.cores > 0 && !facts.kernel.is_empty() && !facts.arch.is_empty());
        assert!(facts.memory_bytes.expect("Linux tells") > 0);
        assert!(facts.limits["nofile"].contains('/'), "{:?}", facts.limits);
        assert!(facts.limits.contains_key("nproc"));
    }

    #[test]
    fn chips_without_a_model_name() {
        let fixture = Fixture::new();
        fixture.write("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
        let model = cpu_model(&fixture.proc());
        assert_eq!(model.as_deref(), Some("implementer 0x41 part 0xd0c"));
        fixture.write("proc/cpuinfo", "model name :\n");
        assert_eq!(cpu_model(&fixture.proc()), None);
    }

    #[test]
    fn sustainable_rate() {
        assert_eq!(sustainable_connections_per_s("1024 61023"), Some(1000.0));
        for broken in ["", "1024", "2 1", "a b"] {
            assert_eq!(sustainable_connections_per_s(broken), None, "{broken}");
        }
    }

    #[test]
    fn hashes() {
        let dir = tempfile::tempdir().expect("directory");
        let path = dir.path().join("file");
        fs::write(&path, "abc").expect("write");
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256_file(&path).expect("hash"), abc);
        assert_eq!(cached_sha256(&path, &path).expect("hash"), abc);
        assert_eq!(cached_sha256(&path, &path).expect("cached"), abc);
        fs::write(&path, "abcd").expect("write");
        assert_ne!(cached_sha256(&path, &path).expect("hash"), abc, "another size");
        assert!(sha256_file(&dir.path().join("none")).is_err());
    }

    #[test]
    fn a_process_is_named_and_redacted() {
        use std::os::unix::process::CommandExt;
        let mut child = std::process::Command::new("sleep")
            .arg0("API_KEY=S3CRET")
            .arg("1000")
            .spawn()
            .expect("a program of every machine");
        let identity = process_identity(child.id());
        let _ = child.kill();
        let _ = child.wait();
        let identity = identity.expect("it ran");
        assert_eq!(identity.pid, child.id());
        assert!(identity.start_ticks > 0);
        assert_eq!(identity.command, ["API_KEY=<redacted>", "1000"]);
        let executable = identity.executable.expect("own child");
        assert_eq!(identity.sha256, sha256_file(Path::new(&executable)).ok());
        assert!(identity.sha256.is_some());
        assert!(!identity.cpus.expect("Linux tells").is_empty());
        assert_eq!(process_identity(child.id()), None, "gone");
    }
}
