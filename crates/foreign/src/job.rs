//! What a generator is asked for, how it is started, and what it left.

use std::path::{Path, PathBuf};

use record::plan::{Extent, Load, Model, Scenario};

/// One invocation's job: a warm-up or a window.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// `host:port` of the target.
    pub address: &'a str,
    /// The request.
    pub scenario: &'a Scenario,
    /// How work arrives.
    pub load: &'a Load,
    /// How long: the load's warm-up or its window.
    pub extent: Extent,
    /// Cores that the generator may use; at least 1.
    pub threads: u32,
    /// The user's script.
    pub script: Option<&'a str>,
    /// The user's arguments.
    pub args: &'a [String],
    /// An existing folder for files that the invocation needs or makes.
    pub dir: &'a Path,
    /// `warmup` or `window`: begins the names of such files.
    pub phase: &'a str,
}

impl Job<'_> {
    /// `http://host:port/path`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.scenario.path)
    }

    /// Users of a closed loop; 0 for an open one.
    pub(crate) fn users(&self) -> u32 {
        match self.load.model {
            Model::Users(users) => users,
            Model::Rate(_) => 0,
        }
    }

    /// The length in whole seconds, rounded up; at least 1. 0 for a count.
    pub(crate) fn seconds(&self) -> u64 {
        match self.extent {
            Extent::Ns(ns) => ns.div_ceil(1_000_000_000).max(1),
            Extent::Count(_) => 0,
        }
    }

    /// The count; `None` for a duration.
    pub(crate) fn count(&self) -> Option<u64> {
        match self.extent {
            Extent::Count(count) => Some(count),
            Extent::Ns(_) => None,
        }
    }

    /// Whether every request has a connection of its own.
    pub(crate) fn closes(&self) -> bool {
        self.load.connections == "new"
    }

    /// Bound on one request in whole seconds, at least 1.
    pub(crate) fn timeout_s(&self) -> u64 {
        self.load.timeout_ns.div_ceil(1_000_000_000).max(1)
    }

    /// A file of this invocation.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{}-{name}", self.phase))
    }
}

/// How it is started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables added to its environment.
    pub env: Vec<(String, String)>,
    /// Files that must be there before it starts, with their content.
    pub files: Vec<(PathBuf, String)>,
    /// The file that it writes its figures to, beside standard output.
    pub output: Option<PathBuf>,
}

/// What it left.
#[derive(Debug, Clone, Copy, Default)]
pub struct Output<'a> {
    /// Standard output.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// The content of [`Invocation::output`].
    pub file: Option<&'a str>,
}
