//! A folder of its own for every test, the command in it, and the proof that nothing is left.

mod bench;
mod dice;
mod peers;
mod processes;

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use record::digest::Digest;
use record::load::LoadRecord;
use record::meta::Meta;
use record::mock::MockRecord;
use record::{Effect, Reason, layout};
use serde::de::DeserializeOwned;

pub(crate) use bench::{Bench, quoted};
pub(crate) use dice::Dice;
pub(crate) use peers::{Peer, Stubborn, free_port, request};
pub(crate) use processes::{TAG, signal, tagged};

/// The program under test.
pub(crate) const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// No command may take longer; far above what a busy machine needs.
const HARD_LIMIT: Duration = Duration::from_secs(180);
/// How long to wait for a condition that must come true.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(2);

/// Waits until `condition` gives something.
///
/// # Panics
/// When it does not within a generous bound.
pub(crate) fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain for {what}");
        std::thread::sleep(LOOK);
    }
}

/// A temporary folder in which commands run, tagged so that their descendants can be found.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
    tag: String,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let tag = format!("{}-{}", std::process::id(), dir.path().display());
        Self { dir, tag }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, text).expect("a file of the test can be written");
        path
    }

    /// A command in this folder with the tag in its environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path()).env(TAG, &self.tag);
        // Certificates and calibrations of the user are none of a test's.
        command.env("XDG_STATE_HOME", self.path().join("state"));
        command.env_remove("NO_COLOR").env("COLUMNS", "100").stdin(Stdio::null());
        command
    }

    /// Runs `assay` to its end.
    pub(crate) fn assay<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Ran {
        self.spawn(arguments).finish()
    }

    /// Starts `assay`.
    pub(crate) fn spawn<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Running {
        Running::start(self.command(ASSAY, arguments))
    }

    /// Writes a bench and runs it under `label`, with `--set` for each of `sets`.
    pub(crate) fn run(&self, bench: &Bench, label: &str, sets: &[&str]) -> Ran {
        self.start(bench, label, sets).finish()
    }

    /// As [`Lab::run`], without waiting for the end.
    pub(crate) fn start(&self, bench: &Bench, label: &str, sets: &[&str]) -> Running {
        self.write("bench.toml", &bench.toml());
        let mut arguments = vec!["run", "bench.toml", "--label", label];
        arguments.extend(sets.iter().flat_map(|set| ["--set", *set]));
        self.spawn(&arguments)
    }

    pub(crate) fn label(&self, label: &str) -> PathBuf {
        self.path().join("results").join(label)
    }

    /// Names of the run directories of a label, sorted.
    pub(crate) fn runs(&self, label: &str) -> Vec<String> {
        names(&self.label(label).join(layout::RUNS))
    }

    /// The directory of the only run of a label.
    pub(crate) fn only_run(&self, label: &str) -> PathBuf {
        let runs = self.runs(label);
        assert_eq!(runs.len(), 1, "{runs:?}");
        self.label(label).join(layout::RUNS).join(&runs[0])
    }

    /// The digest of the only run of a label.
    pub(crate) fn only_digest(&self, label: &str) -> Digest {
        digest(&self.only_run(label))
    }

    /// Waits until nothing that was started here is left.
    ///
    /// # Panics
    /// When something is, by pid and command line.
    pub(crate) fn assert_nothing_runs(&self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = tagged(&self.tag);
            if left.is_empty() {
                return;
            }
            assert!(Instant::now() < deadline, "left running: {left:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Everything that was started here and lives.
    pub(crate) fn running(&self) -> Vec<processes::Process> {
        tagged(&self.tag)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // A test that failed half-way leaves nothing behind either; each by its own pid.
        for process in tagged(&self.tag) {
            signal(process.pid, rustix::process::Signal::KILL);
        }
    }
}

/// Names in a folder, sorted; none when it does not exist.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Every file below a folder.
pub(crate) fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for name in names(dir) {
        let path = dir.join(name);
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Reads an artefact.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> T {
    layout::read_json(path).unwrap_or_else(|error| panic!("{error}"))
}

/// The digest of a run directory.
pub(crate) fn digest(run: &Path) -> Digest {
    read(&run.join(layout::DIGEST_JSON))
}

/// The load record of a run directory.
pub(crate) fn load(run: &Path) -> LoadRecord {
    read(&run.join(layout::LOAD))
}

/// The mock record of a run directory.
pub(crate) fn mock(run: &Path) -> MockRecord {
    read(&run.join(layout::MOCK))
}

/// The metadata of a run directory.
pub(crate) fn meta(run: &Path) -> Meta {
    read(&run.join(layout::META))
}

/// Names of the gates that did more than flag, in their order, each once.
pub(crate) fn tripped(digest: &Digest) -> Vec<&str> {
    let reasons = digest.validity.reasons.iter().filter(|reason| reason.effect != Effect::Flag);
    let mut gates: Vec<&str> = reasons.map(|reason| reason.gate.as_str()).collect();
    gates.dedup();
    gates
}

/// What a gate said when it tripped.
///
/// # Panics
/// When it did not.
#[track_caller]
pub(crate) fn reason<'d>(digest: &'d Digest, gate: &str) -> &'d Reason {
    let found = digest.validity.reasons.iter().find(|reason| reason.gate == gate);
    found.unwrap_or_else(|| panic!("`{gate}` did not trip: {:#?}", digest.validity))
}

/// A command that runs. Killed when it is dropped before its end.
pub(crate) struct Running {
    child: Child,
    outputs: Option<[Collected; 2]>,
    command: String,
}

impl Running {
    /// Starts a command whose output is collected.
    pub(crate) fn start(mut command: Command) -> Self {
        let shown = format!("{command:?}");
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        let outputs =
            [Collected::start(child.stdout.take()), Collected::start(child.stderr.take())];
        Self { child, outputs: Some(outputs), command: shown }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, which: rustix::process::Signal) {
        signal(self.pid(), which);
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child of ours can be waited for").is_some()
    }

    /// What it has written to standard output so far.
    pub(crate) fn stdout(&self) -> String {
        self.outputs.as_ref().map(|[stdout, _]| stdout.text()).unwrap_or_default()
    }

    /// What it has written to standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.outputs.as_ref().map(|[_, stderr]| stderr.text()).unwrap_or_default()
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it takes longer than the hard limit: it hangs.
    pub(crate) fn finish(mut self) -> Ran {
        let status = self.wait();
        let outputs = self.outputs.take().expect("it is finished once");
        let [stdout, stderr] = outputs.map(Collected::finish);
        Ran { status, stdout, stderr, command: self.command.clone() }
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + HARD_LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                return status;
            }
            assert!(Instant::now() < deadline, "{} hangs", self.command);
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stream that a thread reads to its end.
struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Collected {
    fn start<R: Read + Send + 'static>(stream: Option<R>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let thread = std::thread::spawn(move || {
            let Some(mut stream) = stream else { return };
            let mut piece = [0_u8; 8192];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                sink.lock().expect("no reader panics").extend_from_slice(&piece[..count]);
            }
        });
        Self { bytes, thread }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("no reader panics")).into_owned()
    }

    fn finish(self) -> String {
        self.thread.join().expect("reading does not panic");
        String::from_utf8_lossy(&self.bytes.lock().expect("no reader panics")).into_owned()
    }
}

/// What a command left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    command: String,
}

impl Ran {
    /// Checks the exit status.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        self.expect_one_of(&[code])
    }

    /// For what depends on the machine: a null that differs voids its contrast.
    pub(crate) fn expect_one_of(self, codes: &[i32]) -> Self {
        let Self { status, stdout, stderr, command } = &self;
        assert!(
            status.code().is_some_and(|code| codes.contains(&code)),
            "{command} ended with {status}, not {codes:?}\nstdout:\n{stdout}\nstderr:\n{stderr}"
        );
        self
    }
}
