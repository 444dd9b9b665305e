//! Thread dumps of `jcmd PID Thread.print` and `jstack`, and of `Thread.dump_to_file` in plain
//! text, which has the virtual threads too.
//!
//! A thread's name may hold anything: quotes, spaces, semicolons, line ends. What follows it on
//! its line never holds a quote, so the last quote ends the name. In the section about deadlocks
//! the same stacks are printed again; they are not counted twice.
//!
//! Memory is bounded: frames are kept once by name, within [`MAX_NAME_BYTES`], threads within
//! [`MAX_THREADS`], stacks within [`MAX_FRAMES`] each; what is beyond is counted.

mod header;
mod locks;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};

pub use locks::{Contention, Deadlock, Lock, LockUse, Waiting};

use crate::text_lines::Lines;

/// Threads kept.
pub const MAX_THREADS: usize = 1 << 20;
/// Frames kept of a stack; HotSpot prints 1,024 by itself.
pub const MAX_FRAMES: usize = 1_024;
/// Text kept of frames, locks and names together, bytes.
pub const MAX_NAME_BYTES: usize = 128 << 20;
/// Lines that a thread's name may go over.
const NAME_LINES: usize = 8;

/// A thread dump, read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadDump {
    /// The wall clock as printed.
    pub taken: Option<String>,
    /// The JVM as it names itself.
    pub jvm: Option<String>,
    /// The threads in the order of the dump.
    pub threads: Vec<Thread>,
    /// The deadlocks that the JVM found.
    pub deadlocks: Vec<Deadlock>,
    /// Frames by [`FrameId`], as printed without `at`.
    pub frames: Vec<String>,
    /// How much of it was understood.
    pub quality: Quality,
}

/// Index into [`ThreadDump::frames`].
pub type FrameId = u32;

/// A thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its name, empty for most virtual threads.
    pub name: String,
    /// Its number in Java; `None` for threads of the JVM itself.
    pub number: Option<u64>,
    /// A daemon of Java.
    pub daemon: bool,
    /// A virtual thread.
    pub is_virtual: bool,
    /// CPU since its start, ns.
    pub cpu_ns: Option<u64>,
    /// Time since its start, ns.
    pub elapsed_ns: Option<u64>,
    /// State in Java; `None` for threads of the JVM, carriers and dumps that do not say.
    pub state: Option<State>,
    /// What it waits by: `parking`, `sleeping`, `on object monitor`.
    pub state_detail: Option<String>,
    /// Its stack, leaf first.
    pub stack: Vec<FrameId>,
    /// Monitors and synchronizers on its stack and owned by it, in the order of the dump.
    pub locks: Vec<Lock>,
    /// The number of the virtual thread that it carries.
    pub carries: Option<u64>,
    /// The stack of that virtual thread, leaf first, where the dump has it (JDK 24 and later).
    pub carried_stack: Vec<FrameId>,
}

/// State of a thread in Java.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are those of java.lang.Thread.State")]
pub enum State {
    New,
    Runnable,
    Blocked,
    Waiting,
    TimedWaiting,
    Terminated,
}

impl State {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "NEW" => Self::New,
            "RUNNABLE" => Self::Runnable,
            "BLOCKED" => Self::Blocked,
            "WAITING" => Self::Waiting,
            "TIMED_WAITING" => Self::TimedWaiting,
            "TERMINATED" => Self::Terminated,
            _ => return None,
        })
    }

    /// As Java writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "NEW",
            Self::Runnable => "RUNNABLE",
            Self::Blocked => "BLOCKED",
            Self::Waiting => "WAITING",
            Self::TimedWaiting => "TIMED_WAITING",
            Self::Terminated => "TERMINATED",
        }
    }
}

/// How much of a dump was understood.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quality {
    /// Lines of the file.
    pub lines: u64,
    /// Lines that say nothing that is read here.
    pub passed_over: u64,
    /// Whether the file ends in the middle of a line, of a name or of the section about deadlocks.
    pub unfinished: bool,
    /// Threads, frames and names beyond the bounds.
    pub dropped: u64,
    /// Whether a second dump follows; it was not read.
    pub more_follows: bool,
}

/// Why a file is no thread dump.
#[derive(Debug, thiserror::Error)]
pub enum ThreadDumpError {
    /// It could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line after which reading failed, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// No thread in it.
    #[error(
        "expected a thread dump with a line like `\"main\" #1 prio=5 ...`, found {lines} lines \
         without one; the first: `{first}`. One is written with `jcmd PID Thread.print`"
    )]
    NotAThreadDump {
        /// Lines read.
        lines: u64,
        /// The start of the first line that is not empty.
        first: String,
    },
}

impl ThreadDump {
    /// Reads a dump.
    ///
    /// # Errors
    /// When the input fails or holds no thread. Damage beside threads is no error: see
    /// [`Quality`].
    pub fn read(input: impl BufRead) -> Result<Self, ThreadDumpError> {
        let mut lines = Lines::new(input);
        let mut reader = Reader::default();
        let mut first = String::new();
        loop {
            let count = lines.count;
            let line = match lines.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(source) => return Err(ThreadDumpError::Io { line: count, source }),
            };
            let line = String::from_utf8_lossy(line);
            if first.is_empty() {
                first = line.trim().chars().take(80).collect();
            }
            reader.line(&line);
            if reader.dump.quality.more_follows {
                break;
            }
        }
        let ended = lines.ended;
        let mut dump = reader.finish();
        dump.quality.lines = lines.count;
        dump.quality.unfinished |= !ended;
        if dump.threads.is_empty() {
            return Err(ThreadDumpError::NotAThreadDump { lines: lines.count, first });
        }
        Ok(dump)
    }

    /// A frame's text.
    #[must_use]
    pub fn frame(&self, frame: FrameId) -> &str {
        self.frames.get(frame as usize).map_or("", String::as_str)
    }

    /// Threads of Java by state.
    #[must_use]
    pub fn count(&self, state: State) -> usize {
        self.threads.iter().filter(|thread| thread.state == Some(state)).count()
    }
}

/// Where in the dump a line stands.
#[derive(Debug, Default, PartialEq, Eq)]
enum Place {
    /// Before the first thread, or after an empty line.
    #[default]
    Between,
    /// In a thread's stack.
    Stack,
    /// In the stack of the virtual thread that it carries.
    Carried,
    /// In the list of the synchronizers that it owns.
    Owned,
    /// In the section about deadlocks.
    Deadlock,
    /// In the stacks that this section repeats.
    Repeated,
}

#[derive(Debug, Default)]
struct Reader {
    dump: ThreadDump,
    place: Place,
    /// The start of a name that goes over several lines, and how many.
    name: Option<(String, usize)>,
    ids: HashMap<String, FrameId>,
    name_bytes: usize,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let (text, lines) = match self.name.take() {
            // The rest of a name, unless the line is a whole thread's: then the name was broken.
            Some((start, lines)) if lines < NAME_LINES && header::thread(line).is_none() => {
                (Cow::Owned(format!("{start}\n{line}")), lines)
            }
            Some(_) => {
                self.dump.quality.passed_over += 1;
                (Cow::Borrowed(line), 0)
            }
            None => (Cow::Borrowed(line), 0),
        };
        if self.known(&text) {
            return;
        }
        if text.starts_with('"') || text.starts_with('#') && text.contains(" \"") {
            self.name = Some((text.into_owned(), lines + 1));
        } else {
            self.dump.quality.passed_over += 1;
        }
    }

    /// Reads a line; whether it was one of a dump.
    fn known(&mut self, line: &str) -> bool {
        let text = line.trim();
        if let Some(jvm) = line.strip_prefix("Full thread dump ") {
            self.dump.quality.more_follows = self.dump.jvm.is_some();
            self.dump.jvm.get_or_insert_with(|| jvm.trim_end_matches(':').to_owned());
            return true;
        }
        if text.starts_with("Found ") && text.ends_with("deadlock:") {
            self.place = Place::Deadlock;
            self.dump.deadlocks.push(Deadlock::default());
            return true;
        }
        if text.starts_with("Found ") && (text.contains(" deadlock")) {
            self.place = Place::Between;
            return true;
        }
        match self.place {
            Place::Deadlock => return self.deadlock(line),
            Place::Repeated => return true,
            _ => {}
        }
        if let Some(thread) = header::thread(line) {
            self.place = Place::Stack;
            if self.dump.threads.len() < MAX_THREADS && self.room(thread.name.len()) {
                self.dump.threads.push(thread);
            } else {
                self.dump.quality.dropped += 1;
            }
            return true;
        }
        if text.is_empty() {
            // An empty line stands between a stack and the list of synchronizers too.
            return true;
        }
        if self.dump.threads.is_empty() {
            return self.head(text);
        }
        self.in_thread(line, text)
    }

    /// The lines before the first thread.
    fn head(&mut self, text: &str) -> bool {
        let date = text.as_bytes().get(..10).is_some_and(|date| {
            date.iter().enumerate().all(|(at, byte)| match at {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
        });
        if date && self.dump.taken.is_none() {
            self.dump.taken = Some(text.chars().take(40).collect());
        } else if self.dump.taken.is_some() && self.dump.jvm.is_none() && text.contains('.') {
            // A dump to a file has its version after its date.
            self.dump.jvm = Some(text.chars().take(80).collect());
        }
        date
    }

    fn in_thread(&mut self, line: &str, text: &str) -> bool {
        if let Some(state) = text.strip_prefix("java.lang.Thread.State: ") {
            let (word, detail) = state.split_once(' ').unwrap_or((state, ""));
            let Some(thread) = self.dump.threads.last_mut() else { return false };
            thread.state = State::of(word);
            let detail = detail.trim_start_matches('(').trim_end_matches(')');
            thread.state_detail = (!detail.is_empty()).then(|| detail.to_owned());
            return thread.state.is_some();
        }
        if let Some(number) = text.strip_prefix("Carrying virtual thread #") {
            let Some(thread) = self.dump.threads.last_mut() else { return false };
            thread.carries = number.parse().ok();
            return thread.carries.is_some();
        }
        if text.starts_with("Mounted virtual thread #") {
            self.place = Place::Carried;
            return true;
        }
        if text == "Locked ownable synchronizers:" {
            self.place = Place::Owned;
            return true;
        }
        if let Some(lock) = text.strip_prefix("- ") {
            return self.lock(lock);
        }
        let indented = line.starts_with(['\t', ' ']);
        match text.strip_prefix("at ") {
            Some(frame) => self.frame(frame),
            // The plain dump of JDK 21 to a file has frames without `at`.
            None if indented && text.ends_with(')') && text.contains('(') => self.frame(text),
            None => text == "No compile task" || text.starts_with("Compiling: "),
        }
    }

    fn frame(&mut self, text: &str) -> bool {
        let mut id = self.ids.get(text).copied();
        if id.is_none() && self.room(text.len()) {
            let next = u32::try_from(self.dump.frames.len()).expect("bounded by their bytes");
            self.dump.frames.push(text.to_owned());
            self.ids.insert(text.to_owned(), next);
            id = Some(next);
        }
        let carried = self.place == Place::Carried;
        let kept = self.dump.threads.last_mut().zip(id).is_some_and(|(thread, id)| {
            let stack = if carried { &mut thread.carried_stack } else { &mut thread.stack };
            let room = stack.len() < MAX_FRAMES;
            if room {
                stack.push(id);
            }
            room
        });
        self.dump.quality.dropped += u64::from(!kept);
        true
    }

    fn lock(&mut self, text: &str) -> bool {
        if text == "None" {
            return true;
        }
        let Some(lock) = Lock::of(text, self.place == Place::Owned) else { return false };
        let room = self.room(lock.id.len() + lock.class.len());
        match self.dump.threads.last_mut() {
            Some(thread) if room && thread.locks.len() < MAX_FRAMES => thread.locks.push(lock),
            _ => self.dump.quality.dropped += 1,
        }
        true
    }

    fn deadlock(&mut self, line: &str) -> bool {
        if line.starts_with("Java stack information for the threads listed above:") {
            self.place = Place::Repeated;
            return true;
        }
        let Some(deadlock) = self.dump.deadlocks.last_mut() else { return false };
        deadlock.line(line)
    }

    /// Whether there is room for so much text more.
    fn room(&mut self, bytes: usize) -> bool {
        let room = self.name_bytes + bytes <= MAX_NAME_BYTES;
        if room {
            self.name_bytes += bytes;
        }
        room
    }

    fn finish(mut self) -> ThreadDump {
        self.dump.quality.unfinished =
            self.name.is_some() || matches!(self.place, Place::Deadlock | Place::Repeated);
        self.dump
    }
}

/// Whether the start of a file looks like a thread dump.
#[must_use]
pub fn looks_like(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines()
        .take(60)
        .any(|line| line.starts_with("Full thread dump ") || header::thread(line).is_some())
}

#[cfg(test)]
mod tests;
