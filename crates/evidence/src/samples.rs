//! Records made by hand, for tests of this crate and of those that render its results: one
//! sound run of a mock, from which a test plants one fault at a time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use record::digest::Digest;
use record::host_state::HostStates;
use record::load::{Connections, Generator, LoadRecord, Second, Step, WholeLife, Worker};
use record::meta::{
    Build, FileHash, HostFacts, Listener, Listeners, Meta, Outcome, OutcomeState, ProcessIdentity,
};
use record::mock::{Arrivals, MockConfig, MockRecord, Office, Sleep};
use record::plan::{
    Cell, Compare, Cpus, Effective, Estimate, Expect, Extent, Factor, Fresh, Gates, Level, LevelOf,
    Load, Model, Plan, PlannedRun, Ready, RunKind, Scenario, Stop, Target, TargetKind,
};
use record::resources::{HOST_HEADER, RESOURCES_HEADER};
use record::{Format, LagSummary, Summary, Validity, layout};

/// Start of the sample window on the monotonic clock, ns.
pub const WINDOW_START_NS: u64 = 1_000_000_000_000;
/// Length of the sample window, ns.
pub const WINDOW_NS: u64 = 30_000_000_000;

/// A summary of `count` observations around `centre_ns`.
#[must_use]
pub fn summary(count: u64, centre_ns: u64) -> Summary {
    Summary {
        count,
        min: Some(centre_ns / 2),
        mean: Some(centre_ns as f64),
        p50: Some(centre_ns),
        p90: Some(centre_ns * 12 / 10),
        p95: Some(centre_ns * 13 / 10),
        p99: Some(centre_ns * 2),
        p999: Some(centre_ns * 3),
        max: Some(centre_ns * 4),
    }
}

/// A sound record of a closed loop: 8 users, 30 s, 24,000 requests, none failed.
#[must_use]
pub fn load() -> LoadRecord {
    let worker = |due| Worker { due, sent: due, succeeded: due, ..Worker::default() };
    LoadRecord {
        format: Format::v1("assay.load"),
        model: "closed".to_owned(),
        clock: "from the first byte sent to the last byte received".to_owned(),
        due: 24_000,
        sent: 24_000,
        unsent: 0,
        succeeded: 24_000,
        failed: 0,
        unfinished: 0,
        failures: BTreeMap::new(),
        failure_samples: Vec::new(),
        whole_life: WholeLife { sent: 26_400, answered: 26_400 },
        window_ns: WINDOW_NS,
        window_asked_ns: Some(WINDOW_NS),
        window_asked_count: None,
        window_start_ns: WINDOW_START_NS,
        planned_per_s: None,
        arrival: Default::default(),
        statuses: BTreeMap::new(),
        stages: Vec::new(),
        pause: Default::default(),
        paused_ns: 0,
        users: Some(8),
        rate_per_s: 800.0,
        latency_ns: summary(24_000, 10_000_000),
        service_ns: summary(24_000, 9_900_000),
        unowned_ns: Summary::default(),
        failed_latency_ns: Summary::default(),
        lag_ns: LagSummary::default(),
        connection_mode: "per-user".to_owned(),
        connections: Connections {
            opened: 8,
            distinct_ports: 8,
            peak: 8,
            bound: 8,
            ..Connections::default()
        },
        generator: Generator {
            cpu_user_ns: 2_000_000_000,
            cpu_sys_ns: 1_000_000_000,
            cores: 1,
            peak_rss_bytes: 8 << 20,
            cpu_span_ns: None,
            version: "assay 0.1.0".to_owned(),
        },
        certificate: None,
        validity: Validity::default(),
        steps: vec![Step {
            name: "get".to_owned(),
            sent: 24_000,
            succeeded: 24_000,
            failed: 0,
            warmup_request_sha256: Some("aa".repeat(32)),
            request_sha256: Some("aa".repeat(32)),
            histograms: BTreeMap::new(),
        }],
        workers: vec![worker(12_000), worker(12_000)],
        series: Vec::new(),
        queued_peak: 0,
        in_flight_peak: 8,
    }
}

/// The same at a planned rate of 800/s.
#[must_use]
pub fn open_load() -> LoadRecord {
    LoadRecord {
        model: "open".to_owned(),
        clock: "from the due instant to the last byte received".to_owned(),
        planned_per_s: Some(800.0),
        arrival: Default::default(),
        statuses: BTreeMap::new(),
        stages: Vec::new(),
        pause: Default::default(),
        paused_ns: 0,
        users: None,
        lag_ns: LagSummary {
            p50: Some(11_000),
            p99: Some(64_000),
            p999: Some(190_000),
            max: Some(410_000),
        },
        ..load()
    }
}

/// What the mock saw of [`load`].
#[must_use]
pub fn mock() -> MockRecord {
    MockRecord {
        format: Format::v1("assay.mock"),
        served: 26_400,
        failed: 0,
        failures: BTreeMap::new(),
        malformed: 0,
        served_per_s: 800.0,
        window_ns: 33_000_000_000,
        peak_in_flight: 8,
        service_ns: Summary {
            p99: Some(9_950_000),
            p999: Some(10_100_000),
            ..summary(26_400, 9_800_000)
        },
        queued_ns: summary(26_400, 0),
        backlog_effective: Some(4_096),
        series: Vec::new(),
        sleep: Sleep { asked_ns: 258_720_000_000, slept_ns: summary(26_400, 9_800_000) },
        histograms: BTreeMap::new(),
        arrivals: Arrivals { count: 26_399, mean_ns: 1_250_000.0, variance_ns2: 1e10 },
        distinct_peer_ports: 8,
        port_range: Some((32_768, 60_999)),
        ports_saturated: false,
        accepted: 8,
        accepted_per_s: Some(8.0 / 33.0),
        cpu_ns: 1_100_000_000,
        life_ns: 34_000_000_000,
        config: MockConfig { latency_ns: 9_800_000, ..MockConfig::default() },
        config_line: "instrument: --listen 127.0.0.1:0 --latency 9800us".to_owned(),
        office: Some(Office::Instrument),
        script_sha256: None,
        script_changes: 0,
        endpoints: BTreeMap::new(),
    }
}

/// The effective run of the samples: 8 users for 30 s against a mock of 9.8 ms.
#[must_use]
pub fn effective() -> Effective {
    Effective {
        target: Target {
            name: "api".to_owned(),
            kind: TargetKind::Mock(Box::new(mock().config)),
            address: None,
            env: BTreeMap::new(),
            cwd: None,
            stop: Stop { signal: "TERM".to_owned(), grace_ns: 10_000_000_000 },
            ready: Ready { port: None, get: None, line: None, within_ns: 30_000_000_000 },
            fresh: Fresh::Run,
            bring_up_ns: 5_000_000_000,
            version: None,
            slow_share: None,
        },
        transport: "p0".to_owned(),
        generator: record::plan::Generator::default(),
        scenario: Scenario {
            name: "get".to_owned(),
            method: "GET".to_owned(),
            path: "/".to_owned(),
            headers: Vec::new(),
            body: None,
            expect: Expect { status: vec![200], body: None, size_bytes: None },
        },
        load: Load {
            name: "steady".to_owned(),
            model: Model::Users(8),
            warmup: Extent::Ns(2_000_000_000),
            measure: Extent::Ns(WINDOW_NS),
            arrival: Default::default(),
            stages: Vec::new(),
            pause: Default::default(),
            iterations: None,
            sources: Vec::new(),
            cooldown_ns: 1_000_000_000,
            connections: "per-user".to_owned(),
            max_connections: None,
            timeout_ns: 30_000_000_000,
        },
        vars: BTreeMap::new(),
        cpus: Cpus::default(),
        observe_interval_ns: 1_000_000_000,
    }
}

/// A level of the contrasted factor `target`.
#[must_use]
pub fn level(name: &str, index: u32, twin: Option<&str>) -> LevelOf {
    LevelOf {
        factor: "target".to_owned(),
        level: name.to_owned(),
        index,
        twin: twin.map(str::to_owned),
        positive: None,
        contrasted: true,
    }
}

fn process(pid: u32, sha256: &str) -> ProcessIdentity {
    ProcessIdentity {
        pid,
        start_ticks: 4_200,
        command: vec!["assay".to_owned()],
        executable: Some("/usr/bin/assay".to_owned()),
        sha256: Some(sha256.repeat(32)),
        version: Some("assay 0.1.0".to_owned()),
        cpus: None,
    }
}

/// Metadata of run `<block>-<order>-<level>`; the identity's hash is that of the level's twin.
#[must_use]
pub fn meta(block: u32, order: u32, level: &LevelOf) -> Meta {
    let twin = level.twin.clone().unwrap_or_else(|| level.level.clone());
    Meta {
        format: Format::v1("assay.meta"),
        label: "sample".to_owned(),
        run: format!("{block:02}-{order:02}-{}", level.level),
        block,
        order,
        cell: level.level.clone(),
        levels: vec![level.clone()],
        kind: RunKind::Measured,
        attempt: 1,
        instance: order,
        quick: false,
        assay: Build {
            version: "0.1.0".to_owned(),
            commit: "0123abcd".to_owned(),
            sha256: "bb".repeat(32),
        },
        options: BTreeMap::new(),
        started_utc: "2026-11-30T11:46:14Z".to_owned(),
        started_unix_ns: None,
        since_previous_run_ns: Some(1_500_000_000),
        previous_cell: None,
        seed: 1,
        layout_bytes: 0,
        effective: effective(),
        identity_sha256: format!("effective-{twin}"),
        scenario_sha256: "cc".repeat(32),
        files: vec![FileHash {
            path: "sample.toml".to_owned(),
            sha256: "dd".repeat(32),
            bytes: 400,
        }],
        processes: BTreeMap::from([
            ("target".to_owned(), process(101, "bb")),
            ("generator".to_owned(), process(102, "bb")),
            ("parent".to_owned(), process(100, "bb")),
        ]),
        host: HostFacts {
            name: "bench-1".to_owned(),
            kernel: "6.12.0".to_owned(),
            arch: "x86_64".to_owned(),
            cpu_model: Some("Example CPU".to_owned()),
            cores: 4,
            memory_bytes: Some(8 << 30),
            governor: None,
            smt: Some(false),
            boot_id: Some("11111111-2222".to_owned()),
            clocksource: Some("tsc".to_owned()),
            limits: BTreeMap::from([("nofile".to_owned(), "1024/4096".to_owned())]),
            sysctls: BTreeMap::from([("net.core.somaxconn".to_owned(), "4096".to_owned())]),
            sustainable_connections_per_s: Some(470.0),
        },
        standing: None,
        host_states: HostStates::default(),
        listeners: Listeners {
            start: vec![Listener { pid: 101, start_ticks: 4_200 }],
            end: vec![Listener { pid: 101, start_ticks: 4_200 }],
        },
        instants_ns: BTreeMap::from([("window_start".to_owned(), WINDOW_START_NS)]),
        outcome: Some(Outcome { state: OutcomeState::Finished, detail: String::new() }),
        parent_cpu_ns: Some(20_000_000),
        elapsed_ns: Some(34_000_000_000),
    }
}

/// A run directory in the making.
#[derive(Debug, Clone)]
pub struct SampleRun {
    /// `meta.json`.
    pub meta: Meta,
    /// `load.json`, when there is one.
    pub load: Option<LoadRecord>,
    /// `mock.json`, when there is one.
    pub mock: Option<MockRecord>,
    /// `resources.csv`, when there is one.
    pub resources: Option<String>,
    /// `host.csv`, when there is one.
    pub host: Option<String>,
}

impl SampleRun {
    /// A sound run.
    #[must_use]
    pub fn sound(block: u32, order: u32, level: &LevelOf) -> Self {
        Self {
            meta: meta(block, order, level),
            load: Some(load()),
            mock: Some(mock()),
            resources: Some(resources_csv()),
            host: Some(host_csv()),
        }
    }

    /// Writes the files into `dir`.
    ///
    /// # Panics
    /// When the directory cannot be written: a test cannot go on then.
    pub fn write(&self, dir: &Path) {
        fs::create_dir_all(dir).expect("a test directory can be made");
        write_json(&dir.join(layout::META), &self.meta).expect("meta is written");
        if let Some(load) = &self.load {
            write_json(&dir.join(layout::LOAD), load).expect("load is written");
        }
        if let Some(mock) = &self.mock {
            write_json(&dir.join(layout::MOCK), mock).expect("mock is written");
        }
        for (name, text) in [(layout::RESOURCES, &self.resources), (layout::HOST, &self.host)] {
            if let Some(text) = text {
                fs::write(dir.join(name), text).expect("samples are written");
            }
        }
    }

    /// Writes the files below `label/runs`, then the digest; gives the run directory.
    ///
    /// # Panics
    /// As [`SampleRun::write`].
    pub fn complete(&self, label: &Path) -> PathBuf {
        self.complete_as(label, &Compare::default())
    }

    /// As [`SampleRun::complete`], with what a bench registered about the comparison.
    ///
    /// # Panics
    /// As [`SampleRun::write`].
    pub fn complete_as(&self, label: &Path, compare: &Compare) -> PathBuf {
        let dir = label.join(layout::RUNS).join(&self.meta.run);
        self.write(&dir);
        let digest =
            crate::digest(&dir, &Gates::default(), compare).expect("a sample run has a digest");
        write_digest(&dir, &digest);
        dir
    }
}

/// Writes JSON as an artefact has it, but without waiting for the disk: a test that writes
/// thousands of runs would wait for nothing else.
fn write_json(path: &Path, value: &impl serde::Serialize) -> std::io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    fs::write(path, bytes)
}

/// Writes `digest.json`.
///
/// # Panics
/// When it cannot be written.
pub fn write_digest(dir: &Path, digest: &Digest) {
    write_json(&dir.join(layout::DIGEST_JSON), digest).expect("digest is written");
}

/// Edge samples and one between for mock, generator and parent; the mock uses 1 s of CPU.
#[must_use]
pub fn resources_csv() -> String {
    let mut text = format!("{RESOURCES_HEADER}\n");
    for (seconds, edge) in [(0, "window_start"), (15, "sample"), (30, "window_end")] {
        let t_ns = WINDOW_START_NS + seconds * 1_000_000_000;
        for (role, per_30_s) in [("target", 1_000), ("generator", 3_000), ("parent", 10)] {
            let cpu = 500_000_000 + per_30_s * seconds * 1_000_000 / 30;
            text.push_str(&format!(
                "{t_ns},{edge},{role},1,{},{},{cpu},8388608,4194304,3,{},{},12\n",
                cpu / 2,
                cpu / 2,
                100 + seconds,
                10 + seconds
            ));
        }
    }
    text
}

/// Edge samples of a quiet host without a frequency or temperature sensor.
#[must_use]
pub fn host_csv() -> String {
    let mut text = format!("{HOST_HEADER}\n");
    for (seconds, edge) in [(0_u64, "window_start"), (15, "sample"), (30, "window_end")] {
        let t_ns = WINDOW_START_NS + seconds * 1_000_000_000;
        text.push_str(&format!(
            "{t_ns},{edge},{},{},0,0.50,,,4294967296,,,,,,,77,0.02,sshd\n",
            seconds * 500_000_000,
            seconds * 3_500_000_000
        ));
    }
    text
}

/// One second of a series with these latencies, ns.
#[must_use]
pub fn second(second: u64, latencies_ns: &[u64]) -> Second {
    let mut histogram = stats::histogram::new();
    for latency in latencies_ns {
        histogram.saturating_record(*latency);
    }
    let count = latencies_ns.len() as u64;
    Second {
        second,
        sent: count,
        succeeded: count,
        failed: 0,
        latency: stats::histogram::encode(&histogram),
    }
}

/// A plan of these levels of `target`, each a cell, over so many blocks.
#[must_use]
pub fn plan(levels: &[&str], blocks: u32) -> Plan {
    let of = |index: usize| level(levels[index], index as u32, None);
    let cells = (0..levels.len())
        .map(|index| Cell {
            name: levels[index].to_owned(),
            levels: vec![of(index)],
            effective: effective(),
            origins: BTreeMap::from([
                ("load.users".to_owned(), "sample.toml:9".to_owned()),
                ("target.mock.latency".to_owned(), format!("level target={}", levels[index])),
            ]),
            gates: Gates::default(),
            identity_sha256: format!("effective-{}", levels[index]),
            scenario_sha256: "cc".repeat(32),
        })
        .collect();
    let mut runs = Vec::new();
    for block in 1..=blocks {
        for (index, name) in levels.iter().enumerate() {
            let order = index as u32 + 1;
            runs.push(PlannedRun {
                dir: format!("{block:02}-{order:02}-{name}"),
                block,
                order,
                cell: (*name).to_owned(),
                kind: RunKind::Measured,
                instance: runs.len() as u32 + 1,
                layout_bytes: 0,
            });
        }
    }
    Plan {
        format: Format::v1("assay.plan"),
        bench: "sample".to_owned(),
        path: "sample.toml".to_owned(),
        files: meta(1, 1, &level("base", 0, None)).files,
        seed: 1,
        quick: false,
        factors: vec![Factor {
            name: "target".to_owned(),
            levels: levels
                .iter()
                .map(|name| Level { name: (*name).to_owned(), twin: None, positive: None })
                .collect(),
            contrasted: true,
        }],
        fixed: BTreeMap::from([("scenario".to_owned(), "get".to_owned())]),
        cells,
        skipped: Vec::new(),
        nest: vec!["target".to_owned()],
        order: "balanced".to_owned(),
        orders: BTreeMap::new(),
        blocks,
        gap_ns: 0,
        runs,
        cpus: Cpus::default(),
        gates: Gates::default(),
        observe_interval_ns: 1_000_000_000,
        compare: Compare::default(),
        estimate: Estimate {
            time_ns: Some(77_000_000_000),
            bring_up_ns: 10_000_000_000,
            disk_bytes: 2_000_000,
            run_timeout_ns: 126_000_000_000,
        },
        notes: vec!["no null: add `null` to a list of levels".to_owned()],
        only: None,
        extensions: Vec::new(),
        require: None,
        rehearsal: None,
    }
}
