//! A folder of its own for a case, and the program in it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use record::digest::Digest;
use record::layout;

/// No command of a case may take longer.
const LONGEST: Duration = Duration::from_secs(45);
/// Between two looks at a command.
const LOOK: Duration = Duration::from_millis(5);
/// Folders that are tried before giving up.
const MOST_NAMES: u32 = 1_000;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// The folder; removed with everything in it.
pub(super) struct Bed {
    dir: PathBuf,
    program: PathBuf,
}

impl Drop for Bed {
    fn drop(&mut self) {
        // What cannot be removed is the system's temporary folder's to clear.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// How a command ended.
pub(super) struct Ran {
    pub(super) code: Option<i32>,
    pub(super) stderr: String,
}

impl Ran {
    /// The status that was expected, or what came instead.
    pub(super) fn expect(self, code: i32) -> Result<Self, String> {
        if self.code == Some(code) {
            return Ok(self);
        }
        let last = self.stderr.lines().last().unwrap_or_default();
        Err(format!("exit status {:?} instead of {code}: {last}", self.code))
    }

    /// The first line of the standard error that has these words.
    pub(super) fn says(&self, words: &str) -> Result<String, String> {
        self.stderr
            .lines()
            .find(|line| line.contains(words))
            .map(|line| line.trim().to_owned())
            .ok_or_else(|| format!("nothing about `{words}`"))
    }
}

impl Bed {
    pub(super) fn make(program: &Path) -> io::Result<Self> {
        let base = std::env::temp_dir();
        for _ in 0..MOST_NAMES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let dir = base.join(format!("assay-selftest-{}-{number}", std::process::id()));
            match fs::create_dir(&dir) {
                Ok(()) => return Ok(Self { dir, program: program.to_owned() }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free name"))
    }

    /// The program under test.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), String> {
        fs::write(self.path(name), text).map_err(|error| error.to_string())
    }

    /// Starts the program in the folder.
    pub(super) fn start(&self, arguments: &[&str], name: &str) -> Result<Child, String> {
        let file = |ending: &str| {
            File::create(self.path(&format!("{name}.{ending}"))).map_err(|error| error.to_string())
        };
        Command::new(&self.program)
            .args(arguments)
            .current_dir(&self.dir)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(file("out")?)
            .stderr(file("err")?)
            .spawn()
            .map_err(|error| format!("cannot start `{}`: {error}", self.program.display()))
    }

    /// Runs the program to its end, or ends it after the bound.
    pub(super) fn assay(&self, arguments: &[&str]) -> Result<Ran, String> {
        let name = format!("ran-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut child = self.start(arguments, &name)?;
        let began = Instant::now();
        let code = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status.code(),
                None if began.elapsed() > LONGEST => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("`{}` did not end", arguments.join(" ")));
                }
                None => std::thread::sleep(LOOK),
            }
        };
        let stderr = fs::read_to_string(self.path(&format!("{name}.err"))).unwrap_or_default();
        Ok(Ran { code, stderr })
    }

    /// Writes a bench of one cell, with `more` after it, and runs it under `label`.
    pub(super) fn bench(&self, mock: &str, more: &str, label: &str) -> Result<Ran, String> {
        self.write("bench.toml", &bench(mock, more))?;
        self.assay(&["run", "bench.toml", "--label", label])
    }

    /// Names of the run directories of a label.
    pub(super) fn runs(&self, label: &str) -> Vec<PathBuf> {
        let folder = self.path("results").join(label).join(layout::RUNS);
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        runs.sort();
        runs
    }

    pub(super) fn run_of(&self, label: &str) -> Result<PathBuf, String> {
        self.runs(label).into_iter().next().ok_or_else(|| format!("no run of `{label}`"))
    }

    pub(super) fn digest(&self, label: &str) -> Result<Digest, String> {
        layout::read_json(&self.run_of(label)?.join(layout::DIGEST_JSON))
            .map_err(|error| error.to_string())
    }
}

/// A bench of one run of 300 ms against a mock; what depends on the quiet of the machine is loose.
pub(super) fn bench(mock: &str, more: &str) -> String {
    format!(
        "[target.mock]\nmock = {{ latency = \"2ms\"{mock} }}\n[scenario.get]\nget = \"/\"\n\
         [load.some]\nusers = 2\nwarmup = \"50ms\"\nmeasure = \"300ms\"\ncooldown = \"2s\"\n\
         [matrix]\nblocks = 1\nwarmup_run = false\n[gates]\nwindow = \"100ms\"\nrequests = 1\n\
         achieved = \"1%\"\nlag = \"100000%\"\nsamples = 1\ntruncated = \"1%\"\n\
         generator_cpu = \"100%\"\nmock_late = \"100000%\"\n{more}"
    )
}

/// The detail of a tripped gate.
pub(super) fn tripped(digest: &Digest, gate: &str) -> Result<String, String> {
    digest
        .validity
        .reasons
        .iter()
        .find(|reason| reason.gate == gate)
        .map(|reason| format!("{gate}: {}", reason.detail))
        .ok_or_else(|| format!("`{gate}` did not trip"))
}
