//! Bring-ups that go well, and every way in which they do not.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use clock::{Clock, Fake, Monotonic};
use record::meta::OutcomeState;
use record::mock::MockConfig;
use record::plan::{Cpus, Fresh, Ready, Stop, Target, TargetKind, VersionPin};
use target::{BringUpError, Context, FLUSH_BOUND, Instance, bring_up};
use tempfile::TempDir;

use crate::probe::{BOUND, eventually, exists, own_program};

pub(crate) const TESTS: &[(&str, fn())] = &[
    ("bring_up::a_process_that_answers_a_path", a_process_that_answers_a_path),
    ("bring_up::a_process_whose_port_accepts", a_process_whose_port_accepts),
    ("bring_up::a_process_that_prints_a_line", a_process_that_prints_a_line),
    ("bring_up::a_mock_is_flushed_and_stopped", a_mock_is_flushed_and_stopped),
    ("bring_up::a_mock_without_a_record_is_named", a_mock_without_a_record),
    ("bring_up::a_url_is_only_looked_at", a_url_is_only_looked_at),
    ("bring_up::a_port_in_use_is_refused", a_port_in_use_is_refused),
    ("bring_up::never_ready", never_ready),
    ("bring_up::a_mock_that_never_listens", a_mock_that_never_listens),
    ("bring_up::wrong_answers_are_not_ready", wrong_answers_are_not_ready),
    ("bring_up::a_process_that_dies", a_process_that_dies),
    ("bring_up::versions", versions),
    ("bring_up::a_wrong_version_starts_nothing", a_wrong_version_starts_nothing),
    ("bring_up::an_interruption_ends_the_wait", an_interruption_ends_the_wait),
    ("bring_up::impossible_addresses", impossible_addresses),
];

/// A place to bring something up.
struct Bench {
    dir: TempDir,
    cpus: Cpus,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("directory");
        std::fs::create_dir(dir.path().join("scratch")).expect("scratch");
        Self { dir, cpus: Cpus::default() }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn up(&self, target: &Target) -> Result<Instance, BringUpError> {
        self.up_with(target, &Monotonic, &|| false)
    }

    fn up_with(
        &self,
        target: &Target,
        clock: &dyn Clock,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Instance, BringUpError> {
        let own = own_program();
        let context = Context {
            guardian: &own,
            assay: &own,
            dir: self.dir.path(),
            scratch: &self.path("scratch"),
            cpus: &self.cpus,
            clock,
            interrupted,
        };
        bring_up(target, &context)
    }

    /// Brings up what must fail, on a clock that moves by a second with every try once
    /// `started` holds.
    fn fails(&self, target: &Target, started: &dyn Fn() -> bool) -> BringUpError {
        let clock = Fake::at(1);
        let tick = || {
            if started() {
                clock.advance(1_000_000_000);
            }
            false
        };
        self.up_with(target, &clock, &tick).expect_err("must fail")
    }
}

fn target(kind: TargetKind) -> Target {
    Target {
        name: "shop".to_owned(),
        kind,
        address: None,
        env: [].into(),
        cwd: None,
        stop: Stop { signal: "TERM".to_owned(), grace_ns: BOUND.as_nanos() as u64 },
        ready: Ready { port: None, get: None, line: None, within_ns: BOUND.as_nanos() as u64 },
        fresh: Fresh::Run,
        bring_up_ns: 0,
        version: None,
        slow_share: None,
    }
}

fn command(arguments: &[&str]) -> Target {
    target(TargetKind::Command(arguments.iter().map(|a| (*a).to_owned()).collect()))
}

fn shell(script: &str) -> Target {
    command(&["sh", "-c", script])
}

/// A snapshot without the numbers that differ from time to time.
fn stable(error: &BringUpError, replace: &[(&str, &str)]) -> String {
    let mut text = error.to_string();
    for (from, to) in replace {
        text = text.replace(from, to);
    }
    text
}

fn a_process_that_answers_a_path() {
    let bench = Bench::new();
    let mut web =
        command(&["python3", "-m", "http.server", "${target.port}", "--bind", "127.0.0.1"]);
    web.address = Some("127.0.0.1:0".to_owned());
    web.cwd = Some("${run.scratch}".to_owned());
    web.ready.get = Some("/here.txt".to_owned());
    std::fs::write(bench.path("scratch/here.txt"), "here").expect("write");
    let mut instance = bench.up(&web).expect("up");
    let mut stream = TcpStream::connect(instance.address()).expect("connect");
    stream.write_all(b"GET /here.txt HTTP/1.0\r\n\r\n").expect("write");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("read");
    assert!(answer.ends_with("\r\n\r\nhere"), "{answer}");
    assert!(exists(instance.pid().expect("a process")));
    assert_eq!(instance.exited(), None);
    assert!(bench.read("stderr.log").contains("GET /here.txt"), "its log is kept");
    let exit = instance.stop().expect("stop").expect("a process");
    assert_eq!(exit.signal, Some(15));
    assert!(!exists(instance.pid().expect("a process")));
    assert_eq!(instance.exited(), Some(exit));
}

fn a_process_whose_port_accepts() {
    let bench = Bench::new();
    let mut web = shell("exec python3 -m http.server \"$PORT\" --bind 127.0.0.1");
    web.address = Some("localhost:0".to_owned());
    web.env.insert("PORT".to_owned(), "${target.port}".to_owned());
    let instance = bench.up(&web).expect("up");
    TcpStream::connect(instance.address()).expect("connect");
    let (pid, guardian) = (instance.pid().expect("pid"), instance.guardian_pid().expect("pid"));
    assert!(instance.start_ticks().expect("a process") > 0);
    drop(instance);
    assert!(!exists(pid) && !exists(guardian));
}

fn a_process_that_prints_a_line() {
    for stream in ["1", "2"] {
        let bench = Bench::new();
        // Of an earlier instance: it does not count.
        std::fs::write(bench.path("stdout.log"), "old: ready to serve\n").expect("write");
        let mut quiet = shell(&format!(
            "echo starting; until [ -e ${{run.scratch}}/go ]; do sleep 0.01; done; \
             echo 'now ready to serve' >&{stream}; exec sleep 1000"
        ));
        quiet.ready.line = Some("ready to serve".to_owned());
        let asked = std::cell::Cell::new(0);
        let instance = bench
            .up_with(&quiet, &Monotonic, &|| {
                asked.set(asked.get() + 1);
                if asked.get() == 5 {
                    std::fs::write(bench.path("scratch/go"), "").expect("write");
                }
                false
            })
            .expect("up");
        assert!(asked.get() > 5, "not ready before the line");
        assert_eq!(instance.address(), "");
        assert_eq!(instance.version(), None);
    }
}

fn mock(config: MockConfig) -> Target {
    target(TargetKind::Mock(Box::new(config)))
}

fn a_mock_is_flushed_and_stopped() {
    let bench = Bench::new();
    let config = MockConfig { latency_ns: 1_234_567, seed: 9, ..MockConfig::default() };
    let mut instance = bench.up(&mock(config.clone())).expect("up");
    TcpStream::connect(instance.address()).expect("it listens where it says");
    let first = instance.flush_mock(FLUSH_BOUND).expect("record");
    assert_eq!((first.served, &first.config), (1, &config));
    let second = instance.flush_mock(FLUSH_BOUND).expect("record");
    assert_eq!(second.served, 2, "the old file is not read again");
    assert!(instance.stop().expect("stop").expect("a process").success());
    let path = instance.mock_record_path().expect("a mock");
    let last: record::mock::MockRecord = record::layout::read_json(path).expect("record");
    assert_eq!(last.served, 3, "written on SIGTERM, too");
    insta::assert_snapshot!(
        instance.flush_mock(FLUSH_BOUND).expect_err("it is gone"),
        @"the mock ended before it wrote its record: exited with code 0"
    );
}

fn a_mock_without_a_record() {
    let bench = Bench::new();
    let dir = bench.dir.path().display().to_string();
    let mut silent = bench.up(&mock(MockConfig { seed: 13, ..MockConfig::default() })).expect("up");
    let error = silent.flush_mock(Duration::from_millis(50)).expect_err("no record");
    insta::assert_snapshot!(error.to_string().replace(&dir, "DIR"), @"the mock wrote no record to `DIR/mock.json` within 50 ms of SIGUSR1");
    let mut dying = bench.up(&mock(MockConfig { seed: 14, ..MockConfig::default() })).expect("up");
    insta::assert_snapshot!(dying.flush_mock(FLUSH_BOUND).expect_err("no record"), @"the mock ended before it wrote its record: killed by SIGABRT (6)");
}

/// Answers every connection with these bytes, until the test ends.
fn serve(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let address = listener.local_addr().expect("address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0_u8; 4096];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer);
        }
    });
    address
}

fn a_url_is_only_looked_at() {
    let bench = Bench::new();
    let address = serve(b"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n");
    let mut url = target(TargetKind::Url(format!("http://{address}/base")));
    url.ready.get = Some("/".to_owned());
    let mut instance = bench.up(&url).expect("up");
    assert_eq!(instance.address(), address);
    assert_eq!((instance.pid(), instance.guardian_pid()), (None, None));
    assert_eq!(instance.stop().expect("left alone"), None);
    assert_eq!(instance.exited(), None);
    TcpStream::connect(&address).expect("it still runs");
    insta::assert_snapshot!(instance.flush_mock(FLUSH_BOUND).expect_err("no mock"), @"the target is no mock and keeps no record");
}

fn a_port_in_use_is_refused() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    let name =
        observe::procfs::Stat::read(Path::new("/proc"), std::process::id()).expect("own").name;
    let (port_text, pid_text) =
        (port.to_string(), format!("pid {} (`{name}`)", std::process::id()));
    let replace = [(port_text.as_str(), "PORT"), (pid_text.as_str(), "PID (`NAME`)")];

    let mut fixed = shell("touch ${run.dir}/started; exec sleep 1000");
    fixed.address = Some(format!("127.0.0.1:{port}"));
    let error = bench.up(&fixed).expect_err("in use");
    insta::assert_snapshot!(stable(&error, &replace), @"port PORT of target `shop` is in use by PID (`NAME`); stop it or set another `address`");
    assert!(error.is_refusal());
    assert!(!bench.path("started").exists());

    let config = MockConfig { listen: format!("127.0.0.1:{port}"), ..MockConfig::default() };
    let error = bench.up(&mock(config)).expect_err("in use");
    assert!(matches!(error, BringUpError::PortInUse { port: named, .. } if named == port));

    // The port that only readiness looks at counts, too.
    fixed.address = Some("127.0.0.1:0".to_owned());
    fixed.ready.port = Some(port);
    let error = bench.up(&fixed).expect_err("in use");
    assert!(matches!(error, BringUpError::PortInUse { port: named, .. } if named == port));
    drop(listener);
}

fn never_ready() {
    let script = "echo $$ > ${run.dir}/pid; echo 'waiting for token=abc' >&2; exec sleep 1000";
    let fails = |change: &dyn Fn(&mut Target)| {
        let bench = Bench::new();
        let mut deaf = shell(script);
        deaf.ready.within_ns = 30_000_000_000;
        change(&mut deaf);
        let error = bench.fails(&deaf, &|| bench.read("stderr.log").ends_with('\n'));
        let pid = bench.read("pid").trim().parse().expect("a pid");
        assert!(!exists(pid), "it is ended");
        error
    };
    let error = fails(&|deaf| deaf.address = Some("127.0.0.1:0".to_owned()));
    let BringUpError::NotReady { tried, .. } = &error else { panic!("{error}") };
    let port = tried.rsplit(':').next().expect("a port").to_owned();
    insta::assert_snapshot!(stable(&error, &[(&port, "PORT")]), @"target `shop` is not ready after 30.0 s: connect to 127.0.0.1:PORT: Connection refused (os error 111); its last lines: waiting for token=<redacted>; see `ready` and `ready.within`");
    assert_eq!(error.outcome(), OutcomeState::TargetNotReady);
    assert!(!error.is_refusal());
    let error = fails(&|deaf| deaf.ready.line = Some("ready".to_owned()));
    insta::assert_snapshot!(error, @"target `shop` is not ready after 30.0 s: wait for a line with `ready`: no such line yet; its last lines: waiting for token=<redacted>; see `ready` and `ready.within`");
}

fn a_mock_that_never_listens() {
    let bench = Bench::new();
    // Stands in for the binary: takes the mock's flags and says nothing.
    let silent = bench.path("silent");
    std::fs::write(&silent, "#!/bin/sh\necho hello\nexec sleep 1000\n").expect("write");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&silent, mode).expect("executable");
    let clock = Fake::at(1);
    let context = Context {
        guardian: &own_program(),
        assay: &silent,
        dir: bench.dir.path(),
        scratch: bench.dir.path(),
        cpus: &bench.cpus,
        clock: &clock,
        interrupted: &|| {
            if !bench.read("stdout.log").is_empty() {
                clock.advance(BOUND.as_nanos() as u64);
            }
            false
        },
    };
    insta::assert_snapshot!(bring_up(&mock(MockConfig::default()), &context).expect_err("silent"), @"target `shop` is not ready after 60.0 s: wait for the line `listening http://HOST:PORT`: no such line yet; its last lines: hello; see `ready` and `ready.within`");
}

fn wrong_answers_are_not_ready() {
    let bench = Bench::new();
    let message = |answer: &'static [u8]| {
        let address = serve(answer);
        let mut url = target(TargetKind::Url("http://127.0.0.1:1/".to_owned()));
        url.address = Some(address.clone());
        url.ready.get = Some("/health?token=abc".to_owned());
        url.ready.within_ns = 2_000_000_000;
        stable(&bench.fails(&url, &|| true), &[(&address, "HOST:PORT")])
    };
    insta::assert_snapshot!(message(b"HTTP/1.1 503 Service Unavailable\r\n\r\n"), @"target `shop` is not ready after 2.00 s: GET http://HOST:PORT/health?token=<redacted>: it answered 503; see `ready` and `ready.within`");
    insta::assert_snapshot!(message(b"SSH-2.0-OpenSSH\x07\r\n"), @r"target `shop` is not ready after 2.00 s: GET http://HOST:PORT/health?token=<redacted>: it answered no HTTP: `SSH-2.0-OpenSSH\u{7}`; see `ready` and `ready.within`");
    insta::assert_snapshot!(message(b""), @"target `shop` is not ready after 2.00 s: GET http://HOST:PORT/health?token=<redacted>: it closed the connection without an answer; see `ready` and `ready.within`");
    let mut nobody = target(TargetKind::Url("http://no-such-host.invalid/".to_owned()));
    nobody.ready.within_ns = 1;
    let error = bench.fails(&nobody, &|| true).to_string();
    assert!(error.contains("connect to no-such-host.invalid:80: "), "{error}");
}

fn a_process_that_dies() {
    let bench = Bench::new();
    let mut broken =
        shell("echo output; echo 'no such key `prot`' >&2; echo 'password: x' >&2; exit 3");
    broken.address = Some("127.0.0.1:0".to_owned());
    let error = bench.up(&broken).expect_err("dies");
    insta::assert_snapshot!(error, @"target `shop` died before it was ready: exited with code 3; its last lines: no such key `prot` | password: <redacted>");
    assert_eq!(error.outcome(), OutcomeState::TargetDied);

    // Without a word on standard error, standard output speaks.
    let bench = Bench::new();
    let mut killed = shell("echo allocating; kill -KILL $$");
    killed.ready.line = Some("ready".to_owned());
    insta::assert_snapshot!(bench.up(&killed).expect_err("dies"), @"target `shop` died before it was ready: killed by SIGKILL (9), perhaps out of memory; its last lines: allocating");

    // A port that somebody else answers does not make a dead process ready.
    let address = serve(b"HTTP/1.1 200 OK\r\n\r\n");
    let bench = Bench::new();
    let mut shadowed = shell("exit 1");
    shadowed.address = Some(address);
    assert!(bench.up(&shadowed).expect_err("dies").is_refusal());
    let mut missing = command(&["/no/such/server"]);
    missing.ready.line = Some("ready".to_owned());
    insta::assert_snapshot!(bench.up(&missing).expect_err("cannot start"), @"target `shop`: cannot start `/no/such/server`: No such file or directory (os error 2)");
}

fn pinned(script: &str, is: Option<&str>) -> Target {
    let mut target = shell("touch ${run.dir}/started; echo up; exec sleep 1000");
    target.ready.line = Some("up".to_owned());
    target.version = Some(VersionPin {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        is: is.map(str::to_owned),
    });
    target
}

fn versions() {
    let version = |script: &str, is| {
        let bench = Bench::new();
        let instance = bench.up(&pinned(script, is)).expect("up");
        instance.version().map(str::to_owned)
    };
    // nginx prints its version to standard error.
    assert_eq!(version("echo 'nginx/1.26' >&2", Some("1.26")).as_deref(), Some("nginx/1.26"));
    assert_eq!(version("echo; echo ' a '; echo b", Some("b")).as_deref(), Some("a"));
    assert_eq!(version("echo a", None).as_deref(), Some("a"));
}

fn a_wrong_version_starts_nothing() {
    let bench = Bench::new();
    let message = |script: &str| {
        let error = bench.up(&pinned(script, Some("1.26"))).expect_err("refused");
        assert_eq!(error.outcome(), OutcomeState::WrongVersion);
        assert!(!bench.path("started").exists());
        error.to_string()
    };
    insta::assert_snapshot!(message("echo nginx/1.25.1; echo more"), @"target `shop` is version `nginx/1.25.1`, the bench pins `1.26`; install that one or change `version.is`");
    insta::assert_snapshot!(message("echo 1.26; echo no such option >&2; exit 2"), @"`version.command` of target `shop` failed: exited with code 2: no such option");
    insta::assert_snapshot!(message("exit 2"), @"`version.command` of target `shop` failed: exited with code 2");
    insta::assert_snapshot!(message("true"), @"`version.command` of target `shop` failed: printed nothing");
}

fn an_interruption_ends_the_wait() {
    let bench = Bench::new();
    let mut slow = shell("echo $$ > ${run.dir}/pid; exec sleep 1000");
    slow.ready.line = Some("ready".to_owned());
    let interrupted = || !bench.read("pid").is_empty();
    let error = bench.up_with(&slow, &Monotonic, &interrupted).expect_err("interrupted");
    insta::assert_snapshot!(error, @"interrupted while target `shop` came up");
    assert_eq!(error.outcome(), OutcomeState::Interrupted);
    let pid = bench.read("pid").trim().parse().expect("a pid");
    eventually("it is ended", || !exists(pid));
}

fn impossible_addresses() {
    let bench = Bench::new();
    let mut odd = shell("exit 0");
    odd.address = Some("localhost".to_owned());
    insta::assert_snapshot!(bench.up(&odd).expect_err("refused"), @r#"target `shop` has the address `localhost`; write `"127.0.0.1:8080"`"#);
    odd.address = None;
    insta::assert_snapshot!(bench.up(&odd).expect_err("refused"), @r#"target `shop` has neither `address` nor `ready.line`; add the one that tells when it is ready"#);
    odd.address = Some("192.0.2.1:0".to_owned());
    insta::assert_snapshot!(bench.up(&odd).expect_err("refused"), @"no free port on `192.0.2.1` for target `shop`: Cannot assign requested address (os error 99)");
    let url = target(TargetKind::Url("ftp://u:p@host/".to_owned()));
    insta::assert_snapshot!(bench.up(&url).expect_err("refused"), @r#"target `shop` has the address `ftp://u:<redacted>@host/`; write `"http://127.0.0.1:8080/"`"#);
}
