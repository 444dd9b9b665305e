//! The observer from its configuration to its files.

use std::io::{self, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clock::{Clock, Monotonic};
use observe::{Command, ObserverConfig, Scope, Watch, observe_main};
use record::resources::{Edge, HOST_HEADER, RESOURCES_HEADER};
use tempfile::TempDir;

/// How long a condition may take before a test fails; none is ever waited for in full.
const BOUND: Duration = Duration::from_secs(60);
const MS: u64 = 1_000_000;

/// An observer of this process on a thread of its own, spoken to as over standard input.
struct Observer {
    dir: TempDir,
    commands: Option<UnixStream>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Observer {
    fn start(interval_ns: u64) -> Self {
        let dir = tempfile::tempdir().expect("directory");
        let (mut commands, theirs) = UnixStream::pair().expect("socket pair");
        let watch = Watch {
            role: "parent".to_owned(),
            pid: std::process::id(),
            start_ticks: None,
            scope: Scope::Alone,
        };
        let (resources, host) = (dir.path().join("r.csv"), dir.path().join("h.csv"));
        let config = ObserverConfig::new(interval_ns, resources, host, vec![watch]);
        writeln!(commands, "{}", serde_json::to_string(&config).expect("json")).expect("send");
        let thread = std::thread::spawn(move || observe_main(BufReader::new(theirs)));
        Self { dir, commands: Some(commands), thread: Some(thread) }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.commands.as_mut().expect("open"), "{line}").expect("send");
    }

    fn tell(&mut self, command: &Command) {
        self.say(&serde_json::to_string(command).expect("json"));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Rows so far, each as its cells.
    fn rows(&self, name: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    fn wait_for(&self, what: &str, condition: impl Fn(&[Vec<String>]) -> bool) {
        let deadline = Instant::now() + BOUND;
        while !condition(&self.rows("h.csv")) {
            assert!(Instant::now() < deadline, "never came: {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn join(&mut self) -> io::Result<()> {
        self.thread.take().expect("once").join().expect("no panic")
    }
}

fn header(path: &Path) -> String {
    std::fs::read_to_string(path).expect("file").lines().next().unwrap_or_default().to_owned()
}

#[test]
fn samples_by_interval_until_told_to_stop() {
    let mut observer = Observer::start(5 * MS);
    observer.wait_for("five samples", |rows| rows.len() >= 5);
    observer.tell(&Command::Stop { stop: true });
    observer.join().expect("a good end");
    assert_eq!(header(&observer.path("r.csv")), RESOURCES_HEADER);
    assert_eq!(header(&observer.path("h.csv")), HOST_HEADER);
    let rows = observer.rows("r.csv");
    assert_eq!(rows.len(), observer.rows("h.csv").len());
    for cells in &rows {
        assert_eq!(cells.len(), RESOURCES_HEADER.split(',').count());
        assert_eq!(
            (cells[1].as_str(), cells[2].as_str(), cells[3].as_str()),
            ("sample", "parent", "1")
        );
    }
    let instants: Vec<u64> = rows.iter().map(|cells| cells[0].parse().expect("ns")).collect();
    assert!(instants.is_sorted_by(|a, b| a < b), "{instants:?}");
    // Samples keep to their grid: the fifth is not earlier than four intervals after the first,
    // give or take what the first one was late.
    assert!(instants[4] - instants[0] >= 3 * 5 * MS, "{instants:?}");
    // PSS at the first and then at every tenth.
    assert!(rows[1..].iter().take(9).all(|cells| cells[8].is_empty()));
}

#[test]
fn the_end_of_its_input_ends_it() {
    let mut observer = Observer::start(1_000_000 * MS);
    observer.wait_for("the first sample", |rows| !rows.is_empty());
    drop(observer.commands.take());
    observer.join().expect("a good end");
    assert_eq!(observer.rows("h.csv").len(), 1);
}

#[test]
fn marks_are_sampled_at_their_instant() {
    // No sample by the interval disturbs after the first.
    let mut observer = Observer::start(1_000_000 * MS);
    observer.wait_for("the first sample", |rows| !rows.is_empty());
    let ahead_ns = Monotonic.now_ns() + 40 * MS;
    // Sent in the wrong order, and one of them in the past.
    observer.tell(&Command::Mark { mark: Edge::WindowEnd, at_ns: ahead_ns });
    observer.tell(&Command::Mark { mark: Edge::WindowStart, at_ns: 1 });
    observer.wait_for("both marks", |rows| rows.len() == 3);
    observer.tell(&Command::Mark { mark: Edge::WindowEnd, at_ns: u64::MAX });
    observer.tell(&Command::Stop { stop: true });
    observer.join().expect("a good end");
    for (name, start) in [("r.csv", 3), ("h.csv", 2)] {
        let rows = observer.rows(name);
        let edges: Vec<&str> = rows.iter().map(|cells| cells[1].as_str()).collect();
        assert_eq!(edges, ["sample", "window_start", "window_end"], "none for the one ahead");
        let end_ns: u64 = rows[2][0].parse().expect("ns");
        assert!(end_ns >= ahead_ns, "never before its instant");
        assert!(!rows[1][start].is_empty());
    }
    if !observer.rows("r.csv")[0][8].is_empty() {
        assert!(
            observer.rows("r.csv")[1..].iter().all(|cells| !cells[8].is_empty()),
            "PSS at edges"
        );
    }
}

#[test]
fn a_role_can_follow() {
    let mut observer = Observer::start(5 * MS);
    observer.wait_for("a sample", |rows| !rows.is_empty());
    observer.say(&format!(r#"{{"watch":{{"role":"generator","pid":{}}}}}"#, std::process::id()));
    let deadline = Instant::now() + BOUND;
    while !observer.rows("r.csv").iter().any(|cells| cells.get(2).is_some_and(|r| r == "generator"))
    {
        assert!(Instant::now() < deadline, "never watched");
    }
    observer.say(r#"{"stop":true}"#);
    observer.join().expect("a good end");
}

#[test]
fn what_is_wrong_is_named() {
    let error = |line: &str| {
        let mut observer = Observer::start(1_000_000 * MS);
        observer.say(line);
        observer.join().expect_err("refused").to_string()
    };
    insta::assert_snapshot!(error(r#"{"mark":"window_middle","at_ns":1}"#), @r#"`{"mark":"window_middle","at_ns":1}` is no command; write `{"mark":"window_start","at_ns":1}`, `{"watch":{"role":"target","pid":1}}` or `{"stop":true}`"#);
    insta::assert_snapshot!(error("stop"), @r#"`stop` is no command; write `{"mark":"window_start","at_ns":1}`, `{"watch":{"role":"target","pid":1}}` or `{"stop":true}`"#);
    let mut observer = Observer::start(MS - 1);
    insta::assert_snapshot!(observer.join().expect_err("refused"), @"an interval of 999999 ns is below 1 ms");
    insta::assert_snapshot!(observe_main(&b"{}"[..]).expect_err("refused"), @"the first line is no configuration: missing field `interval_ns` at line 1 column 2");

    // Nothing is overwritten.
    let observer = Observer::start(1_000_000 * MS);
    observer.wait_for("a sample", |rows| !rows.is_empty());
    let (resources, host) = (observer.path("r.csv"), observer.path("h2.csv"));
    let config = ObserverConfig::new(MS, resources, host, Vec::new());
    let line = serde_json::to_string(&config).expect("json");
    let dir = observer.dir.path().display().to_string();
    let refused = observe_main(io::Cursor::new(line)).expect_err("refused").to_string();
    insta::assert_snapshot!(refused.replace(&dir, "DIR"), @"cannot write `DIR/r.csv`: File exists (os error 17)");
    let more =
        (0..100).map(|_| format!("{}\n", r#"{"mark":"window_end","at_ns":9000000000000000000}"#));
    let mut crowded = Observer::start(1_000_000 * MS);
    crowded.say(more.collect::<String>().trim_end());
    insta::assert_snapshot!(crowded.join().expect_err("refused"), @"more than 64 marks lie ahead");
}
