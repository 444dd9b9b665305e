//! The messages of a unified log. A message is `GC(7) Pause Young (Normal) (G1 Evacuation Pause)
//! 14M->2M(96M) 4.855ms`: an optional number, words, parts in parentheses, a change of the heap
//! and a duration; the last two are there when the thing has ended.

use super::amount::{self, Change};
use super::{Collector, HeapChange, Reader, add};

impl Reader {
    /// Reads a message; whether it was one of those that count.
    pub(super) fn unified(&mut self, message: &str, at_ns: Option<u64>) -> bool {
        let (gc, text) = collection(message);
        // Both generations of ZGC prefix their lines: `Y: Pause Mark Start (Major) 0.01ms`.
        let text = match text.as_bytes() {
            [b'Y' | b'y' | b'O', b':', b' ', ..] => &text[3..],
            _ => text,
        };
        let first = text.split(' ').next().unwrap_or_default();
        match first {
            "Pause" => self.pause_line(text, gc, at_ns),
            "Concurrent" => self.concurrent_line(text, gc, at_ns),
            "Garbage" | "Major" | "Minor" => self.cycle_line(text, gc, at_ns),
            "Safepoint" => self.safepoint_line(text),
            "Leaving" => text == "Leaving safepoint region",
            "Entering" | "Total" | "Application" => self.stopped_line(text),
            "Using" => self.using_line(text),
            "Version:" => {
                let version = text["Version:".len()..].trim();
                let version = version.split(' ').next().filter(|version| !version.is_empty());
                self.log.jdk = self.log.jdk.take().or(version.map(str::to_owned));
                self.log.jdk.is_some()
            }
            "Mode:" => {
                self.generational |= text == "Mode: Generational";
                true
            }
            "To-space" => {
                self.failure(gc);
                true
            }
            "Allocation" => self.stall_line(text),
            word if word.starts_with("User=") => self.cpu_line(text),
            _ => false,
        }
    }

    fn pause_line(&mut self, text: &str, gc: Option<u64>, at_ns: Option<u64>) -> bool {
        let Some(ended) = Ended::of(text) else {
            // Without a duration it is the line of its start, or of a table of statistics.
            return gc.is_some();
        };
        self.pause(at_ns, ended.name, ended.duration_ns);
        let old =
            matches!(ended.name, "Pause Full" | "Pause Mixed") || ended.parts.contains("(Mixed)");
        if let Some(change) = ended.change {
            // G1 frees old regions in these two; the cycle that they are of is counted by its own
            // line.
            let of_cycle = matches!(ended.name, "Pause Remark" | "Pause Cleanup");
            self.log.old_collections += u64::from(old);
            self.heap(heap_change(change, gc, at_ns, false, old || of_cycle));
        }
        if ended.parts.contains("(Evacuation Failure") {
            self.failure(gc);
        }
        self.log.degenerated += u64::from(ended.name.starts_with("Pause Degenerated"));
        match ended.name {
            "Pause Mark Start" | "Pause Relocate Start" => self.collector(Collector::Z),
            "Pause Init Mark" | "Pause Final Roots" => self.collector(Collector::Shenandoah),
            "Pause Cleanup" => self.collector(Collector::G1),
            _ if ended.parts.contains("(G1 ") => self.collector(Collector::G1),
            _ => {}
        }
        true
    }

    fn concurrent_line(&mut self, text: &str, gc: Option<u64>, at_ns: Option<u64>) -> bool {
        let Some(ended) = Ended::of(text) else { return gc.is_some() };
        match ended.name {
            "Concurrent Mark Cycle" | "Concurrent Undo Cycle" | "Concurrent Cycle" => {
                self.log.old_collections += u64::from(ended.name != "Concurrent Undo Cycle");
                add(&mut self.log.concurrent_cycles, ended.name, ended.duration_ns);
            }
            name => {
                add(&mut self.log.concurrent, name, ended.duration_ns);
            }
        }
        if let Some(change) = ended.change {
            // Shenandoah frees in a concurrent phase; a young cycle leaves the old space alone.
            let old = !ended.parts.contains("(Young)");
            self.log.old_collections += u64::from(old);
            self.heap(heap_change(change, gc, at_ns, true, old));
        }
        true
    }

    /// The line of a whole cycle of ZGC: `Garbage Collection (Warmup) 20M(12%)->14M(9%)`, and
    /// with generations `Major Collection (Warmup) 8M(12%)->4M(6%) 0.005s`.
    fn cycle_line(&mut self, text: &str, gc: Option<u64>, at_ns: Option<u64>) -> bool {
        let kind = ["Garbage Collection (", "Major Collection (", "Minor Collection ("]
            .iter()
            .position(|kind| text.starts_with(kind));
        let Some(kind) = kind else { return false };
        self.generational |= kind > 0;
        self.collector(Collector::Z);
        let change = text.rsplit(' ').take(2).find_map(amount::change);
        if let Some(change) = change {
            self.log.old_collections += u64::from(kind < 2);
            self.heap(heap_change(change, gc, at_ns, true, kind < 2));
        }
        true
    }

    /// `Safepoint "ZMarkEnd", Time since last: 1 ns, Reaching safepoint: 1 ns, ..., Total: 1 ns`,
    /// JDK 13 and later; which parts there are depends on the version.
    fn safepoint_line(&mut self, text: &str) -> bool {
        let Some((name, parts)) =
            text.strip_prefix("Safepoint \"").and_then(|text| text.split_once("\", "))
        else {
            return false;
        };
        let part = |key: &str| {
            let value = parts.split(", ").find_map(|part| part.strip_prefix(key))?;
            value.trim_end_matches(',').strip_suffix(" ns")?.parse::<u64>().ok()
        };
        let Some(total_ns) = part("Total: ") else { return false };
        self.safepoint(name, part("Reaching safepoint: ").unwrap_or(0), total_ns);
        true
    }

    /// The safepoints of JDK 11 and before, in three lines of which the last has the times.
    pub(super) fn stopped_line(&mut self, text: &str) -> bool {
        if let Some(name) = text.strip_prefix("Entering safepoint region: ") {
            self.safepoint = Some(name.chars().take(128).collect());
            return true;
        }
        if text.starts_with("Application time: ") {
            return true;
        }
        let times = text
            .strip_prefix("Total time for which application threads were stopped: ")
            .and_then(|text| text.split_once(" seconds"));
        let Some((total, rest)) = times else { return false };
        let Some(total_ns) = amount::decimal(total, 1_000_000_000) else { return false };
        let reaching_ns = rest
            .strip_prefix(", Stopping threads took: ")
            .and_then(|rest| amount::decimal(rest.strip_suffix(" seconds")?, 1_000_000_000));
        let name = self.safepoint.take();
        let name = name.as_deref().unwrap_or("(operation not logged)");
        self.safepoint(name, reaching_ns.unwrap_or(0), total_ns);
        true
    }

    fn using_line(&mut self, text: &str) -> bool {
        let collector = match text["Using".len()..].trim() {
            "G1" => Collector::G1,
            "Serial" => Collector::Serial,
            "Parallel" => Collector::Parallel,
            "Concurrent Mark Sweep" => Collector::Cms,
            "Shenandoah" => Collector::Shenandoah,
            "The Z Garbage Collector" => Collector::Z,
            "Epsilon" => Collector::Epsilon,
            _ => return false,
        };
        self.log.collector = Some(collector);
        true
    }

    /// `Allocation Stall (main) 12.345ms`.
    fn stall_line(&mut self, text: &str) -> bool {
        let Some(duration_ns) = text
            .strip_prefix("Allocation Stall (")
            .and_then(|text| amount::duration_ns(text.rsplit(' ').next()?))
        else {
            return false;
        };
        self.log.allocation_stalls += 1;
        self.log.allocation_stall_ns = self.log.allocation_stall_ns.saturating_add(duration_ns);
        true
    }

    /// `User=0.01s Sys=0.00s Real=0.01s`.
    fn cpu_line(&mut self, text: &str) -> bool {
        let part = |key: &str| {
            text.split(' ').find_map(|part| amount::duration_ns(part.strip_prefix(key)?))
        };
        let (Some(user_ns), Some(system_ns)) = (part("User="), part("Sys=")) else { return false };
        self.log.cpu_ns = self.log.cpu_ns.saturating_add(user_ns).saturating_add(system_ns);
        self.log.cpu_pauses += 1;
        true
    }
}

/// `GC(7) text` as 7 and the text.
pub(super) fn collection(message: &str) -> (Option<u64>, &str) {
    let text = message.trim();
    text.strip_prefix("GC(")
        .and_then(|rest| rest.split_once(')'))
        .and_then(|(number, rest)| Some((Some(number.parse().ok()?), rest.trim_start())))
        .unwrap_or((None, text))
}

/// The line of something that has ended.
#[derive(Debug, PartialEq, Eq)]
struct Ended<'a> {
    /// The words up to the first parenthesis or figure.
    name: &'a str,
    /// What is in parentheses after them.
    parts: &'a str,
    change: Option<Change>,
    duration_ns: u64,
}

impl<'a> Ended<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let (head, last) = text.rsplit_once(' ')?;
        let duration_ns = amount::duration_ns(last)?;
        let (head, change) = match head.rsplit_once(' ') {
            Some((before, word)) if word.contains("->") => (before, amount::change(word)),
            _ => (head, None),
        };
        let at = head.find(" (").unwrap_or(head.len());
        // Shenandoah and others may put figures without parentheses between; a name has none.
        let name =
            head[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
        Some(Self { name, parts: &head[at..], change, duration_ns })
    }
}

fn heap_change(
    change: Change,
    gc: Option<u64>,
    at_ns: Option<u64>,
    concurrent: bool,
    old: bool,
) -> HeapChange {
    HeapChange {
        at_ns,
        gc,
        before_bytes: change.before_bytes,
        after_bytes: change.after_bytes,
        committed_bytes: change.committed_bytes,
        concurrent,
        old,
    }
}
