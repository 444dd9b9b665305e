//! A foreign generator of a run: its version, its warm-up as an invocation of its own, its window,
//! and what it left.
//!
//! The warm-up is over and the mock's books are empty before the window starts, so that what the
//! mock counts afterwards is the window alone. The tool's output goes to files of the run directory
//! and is read when it has ended; nothing of it is trusted.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clock::{Clock, Monotonic};
use foreign::{Invocation, Job};
use record::Format;
use record::foreign::{ForeignRecord, ForeignRun, ForeignWarmup};
use record::job::Event;
use record::meta::{Outcome, OutcomeState};
use record::plan::{Effective, Extent, Generator};
use target::{Exit, FLUSH_BOUND, Guarded, Output, Spawn};

use crate::error::LabError;
use crate::facts::Facts;
use crate::instances::Up;
use crate::interrupt::Interrupt;

/// Folder of the run directory for what a foreign generator is given and leaves.
const DIR: &str = "generator";
/// How long a tool may take to print its version.
const VERSION_BOUND: Duration = Duration::from_secs(10);
/// How often the parent looks at the warm-up.
const LOOK: Duration = Duration::from_millis(50);
/// Most of a tool's standard output that is read, bytes.
const OUTPUT_BYTES: u64 = 16 << 20;
/// Most of its own file of figures, bytes.
const FILE_BYTES: u64 = 1 << 30;
/// A file of figures above this is removed when it has been read, bytes.
const KEPT_BYTES: u64 = 1 << 20;
/// How long stragglers of a warm-up may keep the mock busy.
const DRAIN_BOUND_NS: u64 = 10_000_000_000;
/// What a mock needs to see that its peers are gone.
const SETTLE: Duration = Duration::from_millis(30);

/// What every invocation of a run shares.
pub(crate) struct Asked<'a> {
    pub(crate) effective: &'a Effective,
    pub(crate) address: &'a str,
    pub(crate) facts: &'a Facts,
    pub(crate) run_dir: &'a Path,
    pub(crate) cpus: &'a [u32],
    pub(crate) timeout_ns: u64,
}

/// What was learned before the window.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    pub(crate) version: Option<String>,
    warmup: Option<ForeignWarmup>,
}

/// The measured invocation while it runs.
#[derive(Debug)]
pub(crate) struct Foreign {
    process: Guarded,
    generator: Generator,
    invocation: Invocation,
    dir: PathBuf,
    started_ns: u64,
    ended_ns: Option<u64>,
    told: Told,
    good_codes: &'static [i32],
}

/// Which edges have been told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Open,
    Closed,
}

/// A window that ended as it should, with what the tool says of it.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) run: ForeignRun,
    pub(crate) started_ns: u64,
    pub(crate) cores: u32,
}

impl Asked<'_> {
    fn generator(&self) -> &Generator {
        &self.effective.generator
    }

    /// The folder of its files, absolute: the tool has a working directory of its own.
    fn dir(&self) -> PathBuf {
        let dir = self.run_dir.join(DIR);
        std::path::absolute(&dir).unwrap_or(dir)
    }

    fn cores(&self) -> u32 {
        u32::try_from(self.cpus.len()).unwrap_or(u32::MAX).max(1)
    }

    fn invocation(&self, dir: &Path, extent: Extent, phase: &str) -> Result<Invocation, String> {
        let generator = self.generator();
        let job = Job {
            address: self.address,
            scenario: &self.effective.scenario,
            load: &self.effective.load,
            extent,
            threads: self.cores(),
            script: generator.script.as_deref(),
            args: &generator.args,
            dir,
            phase,
        };
        let mut asked = foreign::ask(generator, &job)
            .ok_or_else(|| format!("generator `{}` cannot be started", generator.name))?;
        let port = self.address.rsplit(':').next().unwrap_or_default();
        let run_dir = self.run_dir.display().to_string();
        for argument in &mut asked.argv {
            *argument = argument
                .replace("${target.port}", port)
                .replace("${run.scratch}", &format!("{run_dir}/{}", record::layout::SCRATCH))
                .replace("${run.dir}", &run_dir);
        }
        for (path, content) in &asked.files {
            fs::write(path, content)
                .map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        }
        Ok(asked)
    }

    fn spawn(&self, invocation: &Invocation, dir: &Path, phase: &str) -> Result<Guarded, String> {
        let spawn = Spawn {
            argv: invocation.argv.clone(),
            env: invocation.env.iter().cloned().collect(),
            cwd: Some(dir.to_owned()),
            stdout: Output::File(log(dir, phase, "stdout")),
            stderr: Output::File(log(dir, phase, "stderr")),
            cpus: self.cpus.to_vec(),
            ..Spawn::default()
        };
        Guarded::spawn(&self.facts.assay, &spawn).map_err(|error| error.to_string())
    }
}

fn log(dir: &Path, phase: &str, stream: &str) -> PathBuf {
    dir.join(format!("{phase}.{stream}.log"))
}

fn failed(generator: &Generator, why: &str) -> Outcome {
    Outcome {
        state: OutcomeState::GeneratorFailed,
        detail: format!("generator `{}`: {why}", generator.name),
    }
}

/// Asks for the version and makes the warm-up; then empties the mock's books.
///
/// # Errors
/// How the run ends when that is not possible: the tool cannot be started, its warm-up fails, the
/// target dies, the user interrupts, or its time runs out.
pub(crate) fn prepare(
    asked: &Asked<'_>,
    up: &mut Up,
    has_mock: bool,
    interrupt: &Interrupt,
) -> Result<Prepared, Outcome> {
    let generator = asked.generator();
    let dir = asked.dir();
    fs::create_dir_all(&dir)
        .map_err(|error| failed(generator, &format!("cannot make `{}`: {error}", dir.display())))?;
    let mut prepared = Prepared { version: version(asked, &dir), warmup: None };
    let extent = asked.effective.load.warmup;
    if matches!(extent, Extent::Ns(0) | Extent::Count(0)) {
        return Ok(prepared);
    }
    let invocation =
        asked.invocation(&dir, extent, "warmup").map_err(|why| failed(generator, &why))?;
    let mut process =
        asked.spawn(&invocation, &dir, "warmup").map_err(|why| failed(generator, &why))?;
    let deadline_ns = Monotonic.now_ns().saturating_add(asked.timeout_ns);
    let exit = loop {
        if let Some(exit) = process.wait(LOOK) {
            break exit;
        }
        if interrupt.wants_abort() {
            let _ = process.kill();
            return Err(Outcome {
                state: OutcomeState::Interrupted,
                detail: "interrupted by a signal".to_owned(),
            });
        }
        if let Some(died) = up.instance.exited() {
            let _ = process.kill();
            return Err(Outcome {
                state: OutcomeState::TargetDied,
                detail: format!("target `{}` died during the warm-up: {died}", up.target.name),
            });
        }
        if Monotonic.now_ns() >= deadline_ns {
            let _ = process.kill();
            return Err(Outcome {
                state: OutcomeState::TimedOut,
                detail: "the warm-up did not end; see `matrix.timeout`".to_owned(),
            });
        }
    };
    let adapter = foreign::adapter_of(generator);
    if !good(&exit, adapter.map_or(&[], |adapter| adapter.good_codes)) {
        return Err(failed(generator, &ended(&exit, "its warm-up", &dir, "warmup")));
    }
    let requests = read(generator, &invocation, &dir, "warmup").ok().map(|own| own.requests);
    let witnessed = if has_mock { drain(up) } else { None };
    prepared.warmup = Some(ForeignWarmup { command: invocation.argv, requests, witnessed });
    Ok(prepared)
}

/// Empties the mock's books until nothing of the warm-up comes in any more; the requests that were
/// in them. `None` when the mock does not answer, which a gate finds later.
fn drain(up: &mut Up) -> Option<u64> {
    let deadline_ns = Monotonic.now_ns().saturating_add(DRAIN_BOUND_NS);
    let mut all = 0_u64;
    loop {
        std::thread::sleep(SETTLE);
        let record = up.instance.flush_mock(FLUSH_BOUND).ok()?;
        let seen = record.served.saturating_add(record.failed);
        all = all.saturating_add(seen);
        if (seen == 0 && all > 0) || Monotonic.now_ns() >= deadline_ns {
            return Some(all);
        }
    }
}

/// The version as the tool prints it; `None` where it has no way to tell. Many tools exit with a
/// failure when asked, so that any exit will do.
fn version(asked: &Asked<'_>, dir: &Path) -> Option<String> {
    let argv = foreign::adapter_of(asked.generator())?.version;
    let program = argv.first()?;
    let invocation = Invocation {
        argv: argv.iter().map(|one| (*one).to_owned()).collect(),
        ..Invocation::default()
    };
    let mut process = asked.spawn(&invocation, dir, "version").ok()?;
    if process.wait(VERSION_BOUND).is_none() {
        let _ = process.kill();
        return None;
    }
    let text = ["stdout", "stderr"]
        .map(|stream| text_of(&log(dir, "version", stream), OUTPUT_BYTES).unwrap_or_default())
        .join("\n");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let named = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.contains(&program.to_ascii_lowercase()) && line.contains(|c: char| c.is_ascii_digit())
    };
    let numbered = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
    lines().find(named).or_else(|| lines().find(numbered)).map(str::to_owned)
}

impl Foreign {
    /// Starts the measured invocation.
    pub(crate) fn start(asked: &Asked<'_>) -> Result<Self, LabError> {
        let dir = asked.dir();
        let generator = asked.generator().clone();
        let refused = |why| LabError::Generator { name: asked.generator().name.clone(), why };
        let invocation =
            asked.invocation(&dir, asked.effective.load.measure, "window").map_err(refused)?;
        let started_ns = Monotonic.now_ns();
        let process = asked.spawn(&invocation, &dir, "window").map_err(refused)?;
        let good_codes = foreign::adapter_of(&generator).map_or(&[][..], |a| a.good_codes);
        Ok(Self {
            process,
            generator,
            invocation,
            dir,
            started_ns,
            ended_ns: None,
            told: Told::Nothing,
            good_codes,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub(crate) fn guardian_pid(&self) -> u32 {
        self.process.guardian_pid()
    }

    /// The edges of the window are its start and its end: nothing else is told by it.
    pub(crate) fn event(&mut self, wait: Duration) -> Option<Event> {
        if self.told == Told::Nothing {
            self.told = Told::Open;
            return Some(Event::WindowOpen { at_ns: self.started_ns });
        }
        self.process.wait(wait)?;
        if self.told == Told::Open {
            self.told = Told::Closed;
            let ended_ns = Monotonic.now_ns();
            self.ended_ns = Some(ended_ns);
            return Some(Event::WindowClosed { at_ns: ended_ns });
        }
        None
    }

    pub(crate) fn exited(&mut self) -> Option<Exit> {
        self.process.exited()
    }

    /// Whether an exit is one that leaves figures.
    pub(crate) fn accepts(&self, exit: &Exit) -> bool {
        good(exit, self.good_codes)
    }

    /// Why an exit is none that leaves figures, with the tool's last words.
    pub(crate) fn complaint(&self, exit: &Exit) -> String {
        let what = format!("generator `{}`", self.generator.name);
        ended(exit, &what, &self.dir, "window")
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
    }

    /// Reads what the tool left.
    ///
    /// # Errors
    /// How the run ends when that is no evidence.
    pub(crate) fn done(self, asked: &Asked<'_>, prepared: Prepared) -> Result<Done, Outcome> {
        let own = read(&self.generator, &self.invocation, &self.dir, "window")
            .map_err(|why| failed(&self.generator, &why))?;
        let adapter = foreign::adapter_of(&self.generator);
        let usage = self.process.usage().unwrap_or_default();
        let ended_ns = self.ended_ns.unwrap_or(self.started_ns);
        let run = ForeignRun {
            format: Format::v1("assay.foreign"),
            generator: self.generator.name.clone(),
            adapter: self.generator.adapter().unwrap_or_default().to_owned(),
            command: record::redact::command(&self.invocation.argv),
            own: ForeignRecord { version: own.version.clone().or(prepared.version), ..own },
            habits: adapter.map(foreign::Adapter::habits).unwrap_or_default(),
            tolerance_requests: adapter
                .map_or(0, |adapter| foreign::tolerance_requests(adapter, &asked.effective.load)),
            warmup: prepared.warmup,
            elapsed_ns: ended_ns.saturating_sub(self.started_ns),
            cpu_user_ns: usage.cpu_user_ns,
            cpu_sys_ns: usage.cpu_sys_ns,
            peak_rss_bytes: usage.peak_rss_bytes,
        };
        // The peers of the mock are gone; it has to see that before its books are asked for.
        std::thread::sleep(SETTLE);
        Ok(Done { run, started_ns: self.started_ns, cores: asked.cores() })
    }
}

fn good(exit: &Exit, codes: &[i32]) -> bool {
    exit.success() || exit.code.is_some_and(|code| codes.contains(&code))
}

/// `generator `a` exited with code 3: cannot connect`.
fn ended(exit: &Exit, what: &str, dir: &Path, phase: &str) -> String {
    let last = ["stderr", "stdout"].into_iter().find_map(|stream| {
        let text = text_of(&log(dir, phase, stream), OUTPUT_BYTES)?;
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(last.chars().take(200).collect::<String>())
    });
    match last {
        Some(last) => format!("{what} {exit}: {last}"),
        None => format!("{what} {exit} without a word"),
    }
}

/// Reads the tool's figures from its files.
fn read(
    generator: &Generator,
    invocation: &Invocation,
    dir: &Path,
    phase: &str,
) -> Result<ForeignRecord, String> {
    let stdout = text_of(&log(dir, phase, "stdout"), OUTPUT_BYTES).unwrap_or_default();
    let stderr = text_of(&log(dir, phase, "stderr"), OUTPUT_BYTES).unwrap_or_default();
    let file = invocation.output.as_ref().and_then(|path| text_of(path, FILE_BYTES));
    if let Some(path) = &invocation.output
        && fs::metadata(path).is_ok_and(|data| data.len() > KEPT_BYTES)
    {
        // Its figures are in `foreign.json` now.
        let _ = fs::remove_file(path);
    }
    let output = foreign::Output { stdout: &stdout, stderr: &stderr, file: file.as_deref() };
    foreign::read(generator, &output).map_err(|error| error.to_string())
}

/// The start of a file as text; `None` when it is not there.
fn text_of(path: &Path, most_bytes: u64) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(most_bytes).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
