//! Panels: what a recording says, added up.
//!
//! Pure: from a recording and a question to a digest, the same for the same bytes whatever the
//! number of threads. No environment variable, command line, host or object content is taken up.

mod assemble;
mod bands;
mod collect;
mod drill;
mod events;
mod heap;
mod pauses;
mod ranking;
mod run;
mod sites;
mod stacks;
mod tables;
mod totals;

use std::sync::atomic::{AtomicUsize, Ordering};

use record::recording::RecordingDigest;

use crate::jfr::Recording;

pub use bands::OWN;
pub use drill::{DrillError, Subject, drill};
pub use heap::{Shape, classify};
pub use pauses::panel as gc_pauses;
pub use ranking::suppress_unstable;
pub use stacks::{MAX_STACK_FRAMES, Stack, Stacks, stacks};
pub use tables::{Counted, Tables, tables};

/// Most threads that read chunks.
const THREADS_MAX: usize = 8;
/// Frames from the leaf in which packages are looked for, unless asked otherwise.
pub const PACKAGE_DEPTH: u32 = 30;

/// What is asked of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Prefixes of own code, with dots; empty when none was named.
    packages: Vec<String>,
    /// The part to look at, nanoseconds since the epoch.
    pub window_ns: Option<[u64; 2]>,
    /// Frames from the leaf in which packages are looked for.
    pub depth: u32,
    /// Packages by the leaf's alone instead of each once per sample.
    pub exclusive: bool,
    /// Part of a method's name whose stacks are asked for.
    asked: Option<String>,
    /// Callers of that method that are told.
    pub callers: u32,
    /// Expected bands of packages' shares: prefix (or [`OWN`]), lowest, highest.
    pub bands: Vec<(String, f64, f64)>,
    /// Expected band of the collector's pauses, per second: lowest, highest.
    pub gc_rate_per_s: Option<[f64; 2]>,
    /// Every frame of every stack is read, of allocations too.
    whole: bool,
    /// The stacks themselves are kept.
    keep_stacks: bool,
}

impl Default for Question {
    fn default() -> Self {
        Self {
            packages: Vec::new(),
            window_ns: None,
            depth: PACKAGE_DEPTH,
            exclusive: false,
            asked: None,
            callers: 0,
            bands: Vec::new(),
            gc_rate_per_s: None,
            whole: false,
            keep_stacks: false,
        }
    }
}

impl Question {
    /// Names prefixes of own code, with dots or slashes.
    #[must_use]
    pub fn packages<S: AsRef<str>>(mut self, packages: &[S]) -> Self {
        self.packages = packages.iter().map(|package| package.as_ref().replace('/', ".")).collect();
        self
    }

    /// Looks at a part only, nanoseconds since the epoch: what begins at or after the first and
    /// before the second.
    #[must_use]
    pub fn window(mut self, from_ns: u64, to_ns: u64) -> Self {
        self.window_ns = Some([from_ns, to_ns]);
        self
    }

    /// Asks for the stacks through a method: part of `package.Class.method`, with dots or
    /// slashes, and as many of its callers.
    #[must_use]
    pub fn site(mut self, site: &str, callers: u32) -> Self {
        self.asked = Some(site.replace('/', "."));
        self.callers = callers;
        self
    }

    /// True for a class of own code: its name starts with a prefix, and the prefix ends at a
    /// boundary.
    fn is_own(&self, class: &str) -> bool {
        self.packages.iter().any(|prefix| {
            class.strip_prefix(prefix.as_str()).is_some_and(|rest| {
                rest.is_empty() || prefix.ends_with('.') || rest.starts_with(['.', '$', '+'])
            })
        })
    }
}

/// The digest of a recording.
#[must_use]
pub fn digest(recording: &Recording, question: &Question) -> RecordingDigest {
    assemble::digest(recording, question, &read(recording, question))
}

/// Reads all chunks, each by one of a few threads.
fn read(recording: &Recording, question: &Question) -> totals::Totals {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.min(THREADS_MAX).min(recording.chunks.len()).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut totals = totals::Totals::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = recording.chunks.get(index) else { return totals };
            collect::add_chunk(&recording.parts[chunk.part], chunk, question, &mut totals);
        }
    };
    let mut totals = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut totals = work();
        for other in others {
            totals.absorb(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        totals
    });
    totals.settle();
    totals
}
