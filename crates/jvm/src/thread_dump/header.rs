//! The line that begins a thread.
//!
//! `"worker "left" of 2" #20 [22257] daemon prio=5 os_prio=0 cpu=0.46ms elapsed=2.29s tid=0x7f
//! nid=22257 waiting for monitor entry [0x7f]`, or in a dump to a file
//! `#28 "" virtual RUNNABLE 2026-11-30T15:07:15.319320377Z`.

use super::{State, Thread};

/// The thread that a line begins.
pub(super) fn thread(line: &str) -> Option<Thread> {
    match line.as_bytes().first()? {
        b'"' => printed(line),
        b'#' => to_file(line),
        _ => None,
    }
}

fn printed(line: &str) -> Option<Thread> {
    let (name, rest) = line.get(1..)?.rsplit_once('"')?;
    let starts = [" #", " daemon ", " prio=", " os_prio=", " tid=", " virtual "];
    if !starts.iter().any(|start| rest.starts_with(start)) {
        return None;
    }
    let mut thread = Thread { name: name.to_owned(), ..Thread::default() };
    for word in rest.split_whitespace() {
        match word.split_once('=') {
            Some(("cpu", value)) => thread.cpu_ns = duration_ns(value),
            Some(("elapsed", value)) => thread.elapsed_ns = duration_ns(value),
            Some(("tid", _)) => break,
            Some(_) => {}
            None if word == "daemon" => thread.daemon = true,
            None if word == "virtual" => thread.is_virtual = true,
            None => {
                let number = word.strip_prefix('#').and_then(|number| number.parse().ok());
                thread.number = thread.number.or(number);
            }
        }
    }
    Some(thread)
}

fn to_file(line: &str) -> Option<Thread> {
    let (number, rest) = line.get(1..)?.split_once(" \"")?;
    let (name, rest) = rest.rsplit_once('"')?;
    let mut thread = Thread { name: name.to_owned(), ..Thread::default() };
    thread.number = Some(number.parse().ok()?);
    let mut words = rest.split_whitespace().peekable();
    thread.is_virtual = words.next_if_eq(&"virtual").is_some();
    if let Some(word) = words.next() {
        thread.state = Some(State::of(word)?);
    }
    Some(thread)
}

/// `157.04ms` or `2.66s` in ns.
fn duration_ns(text: &str) -> Option<u64> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1_000_000_u64),
        None => (text.strip_suffix('s')?, 1_000_000_000),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 6)?;
    let part = fraction.parse::<u64>().ok()? * scale / 10_u64.pow(digits);
    whole.parse::<u64>().ok()?.checked_mul(scale)?.checked_add(part)
}
