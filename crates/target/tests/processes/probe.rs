//! What the tests share: this binary's other roles, and looking at processes.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observe::procfs::Stat;
use target::{Guarded, Output, Spawn};

/// How long a condition may take before a test fails; none is ever waited for in full.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// This binary.
pub(crate) fn own_program() -> PathBuf {
    std::env::current_exe().expect("own path")
}

/// Waits for a condition.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + BOUND;
    while !condition() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process is there, as a zombie too.
pub(crate) fn exists(pid: u32) -> bool {
    Stat::read(Path::new("/proc"), pid).is_some()
}

/// A child of `sh -c`, its output piped.
pub(crate) fn shell(script: &str) -> Spawn {
    Spawn {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        stdout: Output::Pipe,
        ..Spawn::default()
    }
}

/// Starts it under this binary as guardian.
pub(crate) fn start(spawn: &Spawn) -> Guarded {
    Guarded::spawn(&own_program(), spawn).expect("spawn")
}

/// Reads whitespace-separated numbers from a child until there are `count`.
pub(crate) fn read_numbers(from: &mut impl Read, count: usize) -> Vec<u32> {
    let mut text = String::new();
    let mut byte = [0_u8; 1];
    loop {
        let whole = text.ends_with(|c: char| c.is_ascii_whitespace());
        let numbers: Vec<u32> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        if whole && numbers.len() >= count {
            return numbers;
        }
        assert_eq!(from.read(&mut byte).expect("read"), 1, "ended after `{text}`");
        text.push(char::from(byte[0]));
    }
}

/// The role `parent`: starts a script under a guardian, prints the guardian's and the child's
/// pid, and waits to be killed.
pub(crate) fn parent(arguments: &[String]) {
    let spawn = Spawn { stdout: Output::File(arguments[1].clone().into()), ..shell(&arguments[0]) };
    let child = start(&spawn);
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} {}", child.guardian_pid(), child.pid()).expect("print");
    out.flush().expect("print");
    std::thread::sleep(BOUND * 2);
}

/// The role `mock`: keeps its promises towards the bring-up and serves nothing. Each flush
/// counts one more served request.
pub(crate) fn mock(arguments: &[String]) {
    let mut config = record::mock::MockConfig::default();
    let mut json = PathBuf::new();
    for pair in arguments.chunks(2) {
        match pair[0].as_str() {
            "--json" => json = pair[1].clone().into(),
            flag => config
                .set(&flag.trim_start_matches("--").replace('-', "_"), &pair[1])
                .expect("a flag of the mock"),
        }
    }
    let (usr1, term) = (signal_hook::consts::SIGUSR1, signal_hook::consts::SIGTERM);
    let mut signals = signal_hook::iterator::Signals::new([usr1, term]).expect("signals");
    let listener = TcpListener::bind(&config.listen).expect("bind");
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening http://{}", listener.local_addr().expect("address")).expect("print");
    out.flush().expect("print");
    let mut served = 0;
    for signal in signals.forever() {
        served += 1;
        // Seed 13 stands for a mock that forgets to answer, 14 for one that dies instead.
        match config.seed {
            13 => {}
            14 => std::process::abort(),
            _ => record::layout::write_json(&json, &record_of(served, &config)).expect("write"),
        }
        if signal == term {
            return;
        }
    }
}

fn record_of(served: u64, config: &record::mock::MockConfig) -> record::mock::MockRecord {
    let text = format!(
        r#"{{"format":{{"name":"assay.mock","version":1}},"served":{served},"failed":0,
        "served_per_s":0.0,"window_ns":0,"peak_in_flight":0,"service_ns":{summary},
        "sleep":{{"asked_ns":0,"slept_ns":{summary}}},"distinct_peer_ports":0,"cpu_ns":0,
        "config":{config}}}"#,
        summary = serde_json::to_string(&record::Summary::default()).expect("summary"),
        config = serde_json::to_string(config).expect("config"),
    );
    serde_json::from_str(&text).expect("a record")
}
