//! The log of JDK 8 (`-XX:+PrintGCDetails`, with or without `-XX:+PrintGCDateStamps`): stamps
//! without brackets, then events in nested brackets that may go over several lines.
//!
//! What an event says of itself stands at the outermost level: `[GC (Allocation Failure)
//! [PSYoungGen: 65536K->10748K(76288K)] 65536K->29404K(251392K), 0.0123456 secs]`. The inner
//! brackets are about one generation and are passed over.

use super::amount::{self, Change};
use super::decorations::date_ns;
use super::{Collector, HeapChange, Reader, Stamp, Style, add};

/// Bound on an event that goes over several lines, bytes.
const EVENT_BYTES: usize = 64 * 1024;

/// What is open between lines.
#[derive(Debug, Default)]
pub(super) struct State {
    /// An event whose brackets are not closed yet.
    open: Option<Open>,
    /// A pause of G1 whose heap follows on a line of its own.
    g1: Option<(Option<u64>, bool)>,
    /// Whether the last event was a pause: its CPU may follow on a line of its own.
    after_pause: bool,
}

#[derive(Debug)]
struct Open {
    at_ns: Option<u64>,
    text: String,
}

impl Reader {
    /// Reads a line; whether it was one of such a log.
    pub(super) fn jdk8(&mut self, line: &str) -> bool {
        if self.old.open.is_some() {
            return self.continued(line);
        }
        let (stamp, text) = stamps(line);
        if text.starts_with("[GC") || text.starts_with("[Full GC") {
            self.log.style = Style::Jdk8;
            let at_ns = self.at(stamp);
            let open = Open { at_ns, text: text.to_owned() };
            self.event(open);
            return true;
        }
        if let Some(phase) = text.strip_prefix("[CMS-concurrent-") {
            self.log.style = Style::Jdk8;
            self.at(stamp);
            self.collector(Collector::Cms);
            return self.concurrent_mark_sweep(phase);
        }
        if text.starts_with("Total time for which application") {
            self.at(stamp);
            return self.stopped_line(text);
        }
        let text = text.trim_start();
        if text.starts_with("[Eden: ") {
            return self.g1_heap(text);
        }
        if text.starts_with("[Times: ") {
            return std::mem::take(&mut self.old.after_pause) && self.times(text);
        }
        if text.contains(" VM (") && text.contains(" JRE (") {
            // `OpenJDK 64-Bit Server VM (25.292-b10) for linux-amd64 JRE (1.8.0_292-b10), ...`
            let version = text.split(" JRE (").nth(1).and_then(|rest| rest.split(')').next());
            self.log.jdk = version.map(|version| version.chars().take(64).collect());
            return true;
        }
        false
    }

    /// A line after one whose brackets did not close.
    fn continued(&mut self, line: &str) -> bool {
        let Some(mut open) = self.old.open.take() else { return false };
        let (_, text) = stamps(line);
        if text.starts_with("[GC") || text.starts_with("[Full GC") {
            // Another begins: the first was cut or another thread wrote into it.
            self.log.quality.broken_events += 1;
            return self.jdk8(line);
        }
        if open.text.len() + line.len() > EVENT_BYTES {
            self.log.quality.broken_events += 1;
            return false;
        }
        open.text.push(' ');
        open.text.push_str(line);
        self.event(open);
        true
    }

    /// Takes an event in when its brackets are closed, or keeps it.
    fn event(&mut self, open: Open) {
        let Some((own, inner, rest)) = outermost(&open.text) else {
            self.old.open = Some(open);
            return;
        };
        let at_ns = open.at_ns;
        self.old.g1 = None;
        self.old.after_pause = false;
        if inner.contains("[DefNew") || inner.contains("[Tenured") {
            self.collector(Collector::Serial);
        } else if inner.contains("[PSYoungGen") {
            self.collector(Collector::Parallel);
        } else if inner.contains("[ParNew") || inner.contains("[CMS") {
            self.collector(Collector::Cms);
        }
        let Some((head, duration_ns)) = seconds(&own) else {
            // The start of a concurrent phase has no duration.
            return;
        };
        if let Some(phase) = head.strip_prefix("GC concurrent-") {
            self.collector(Collector::G1);
            if let Some(phase) = phase.strip_suffix("-end") {
                add(&mut self.log.concurrent, &name("Concurrent ", phase), duration_ns);
            }
            return;
        }
        let (kind, old) = kind(head, &inner);
        self.pause(at_ns, kind, duration_ns);
        self.old.after_pause = true;
        self.times(rest);
        if ["(to-space exhausted)", "(promotion failed)", "(to-space overflow)"]
            .iter()
            .any(|word| open.text.contains(word))
            || head.starts_with("GC--")
        {
            self.failure(None);
        }
        self.log.degenerated += u64::from(open.text.contains("(concurrent mode failure)"));
        let words = head.split_whitespace().map(|word| word.trim_end_matches(','));
        match words.into_iter().find_map(amount::change) {
            Some(change) => self.old_heap(change, at_ns, old),
            None if head.starts_with("GC pause") => {
                self.collector(Collector::G1);
                self.old.g1 = Some((at_ns, old));
            }
            None => {}
        }
    }

    fn old_heap(&mut self, change: Change, at_ns: Option<u64>, old: bool) {
        self.log.old_collections += u64::from(old);
        self.heap(HeapChange {
            at_ns,
            gc: None,
            before_bytes: change.before_bytes,
            after_bytes: change.after_bytes,
            committed_bytes: change.committed_bytes,
            concurrent: false,
            old,
        });
    }

    /// `[Eden: 24.0M(24.0M)->0.0B(13.0M) Survivors: 0.0B->3072.0K Heap: 24.0M(256.0M)->21.9M(256.0M)]`
    fn g1_heap(&mut self, text: &str) -> bool {
        let change = text
            .split_once(" Heap: ")
            .and_then(|(_, heap)| amount::change(heap.split([' ', ']']).next()?));
        if let (Some((at_ns, old)), Some(change)) = (self.old.g1.take(), change) {
            self.old_heap(change, at_ns, old);
        }
        change.is_some()
    }

    /// ` [Times: user=0.01 sys=0.00, real=0.01 secs] `
    fn times(&mut self, text: &str) -> bool {
        let part = |key: &str| {
            let rest = text.split_once(key)?.1;
            amount::decimal(rest.split([' ', ',']).next()?, 1_000_000_000)
        };
        if !text.trim_start().starts_with("[Times: ") {
            return false;
        }
        let (Some(user_ns), Some(system_ns)) = (part("user="), part("sys=")) else { return false };
        self.log.cpu_ns = self.log.cpu_ns.saturating_add(user_ns).saturating_add(system_ns);
        self.log.cpu_pauses += 1;
        self.old.after_pause = false;
        true
    }

    /// `mark: 0.267/0.374 secs] [Times: ...`: the second figure is the time that went by.
    fn concurrent_mark_sweep(&mut self, phase: &str) -> bool {
        let ended = phase.split_once(": ").and_then(|(phase, times)| {
            let (_, wall) = times.split_once(" secs]")?.0.split_once('/')?;
            Some((phase, amount::decimal(wall, 1_000_000_000)?))
        });
        if let Some((phase, duration_ns)) = ended {
            add(&mut self.log.concurrent, &name("Concurrent ", phase), duration_ns);
            self.log.old_collections += u64::from(phase == "sweep");
        }
        true
    }

    /// What is open at the end of the file was cut.
    pub(super) fn finish_jdk8(&mut self) {
        self.log.quality.broken_events += u64::from(self.old.open.take().is_some());
    }
}

fn name(prefix: &str, phase: &str) -> String {
    prefix.chars().chain(phase.chars().take(64)).collect()
}

/// The kind of a pause, in the words of unified logs, and whether it takes the old space in.
fn kind(head: &str, inner: &str) -> (&'static str, bool) {
    let whole = ["[Tenured:", "[CMS:", "[CMS (concurrent mode failure)"];
    if head.starts_with("Full GC") || whole.iter().any(|space| inner.contains(space)) {
        ("Pause Full", true)
    } else if head.starts_with("GC remark") || head.starts_with("GC (CMS Final Remark)") {
        ("Pause Remark", false)
    } else if head.starts_with("GC cleanup") {
        ("Pause Cleanup", false)
    } else if head.starts_with("GC (CMS Initial Mark)") {
        ("Pause Initial Mark", false)
    } else {
        ("Pause Young", head.contains("(mixed)"))
    }
}

/// The stamps before an event: a date, an uptime, both or none, each with a colon.
fn stamps(line: &str) -> (Stamp, &str) {
    let mut stamp = Stamp::default();
    let mut rest = line;
    while let Some((word, after)) = rest.split_once(": ") {
        if let Some(epoch_ns) = date_ns(word) {
            stamp.epoch_ns = stamp.epoch_ns.or(Some(epoch_ns));
        } else if let Some(uptime_ns) = word
            .contains(['.', ','])
            .then(|| amount::decimal(&word.replace(',', "."), 1_000_000_000))
            .flatten()
        {
            stamp.uptime_ns = stamp.uptime_ns.or(Some(uptime_ns));
        } else {
            break;
        }
        rest = after;
    }
    (stamp, rest)
}

/// The text at the outermost level of brackets, the inner ones, and what follows the last; `None`
/// while a bracket is open.
fn outermost(text: &str) -> Option<(String, String, &str)> {
    let (mut own, mut inner) = (String::new(), String::new());
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth -= 1;
                if depth == 0 {
                    return Some((own, inner, &text[at + 1..]));
                }
            }
            _ => {}
        }
        match (depth, c) {
            (1, '[' | ']') => {}
            (1, _) => own.push(c),
            _ => inner.push(c),
        }
    }
    None
}

/// `head, 0.0123456 secs` as the head and ns.
fn seconds(own: &str) -> Option<(&str, u64)> {
    let (head, seconds) = own.strip_suffix(" secs")?.rsplit_once(", ")?;
    Some((head, amount::decimal(seconds, 1_000_000_000)?))
}
