//! `--rehearse warmup=2s,5s,15s`: the bench once for each length of the warm-up, as a row factor
//! that the command line adds. Each contrast then exists once per length, and whether it depends
//! on the length can be seen before the real matrix is made.

use record::plan::{Extent, Rehearsal};

use crate::factors::{Factor, Level};
use crate::node::{self, Node, Table, Value};
use crate::problem::Report;
use crate::read::Reading;
use crate::source::{At, Sources};
use crate::typed;
use crate::words;

/// The factor that is added.
pub(crate) const FACTOR: &str = "warmup";
/// The key that it varies.
const KEY: [&str; 2] = ["load", "warmup"];
/// Most lengths.
const MAX_LENGTHS: usize = 20;

/// The factor and what is recorded of it; `None` when something was reported.
pub(crate) fn rehearsal(
    text: &str,
    file_factors: &Table,
    sources: &mut Sources,
    reading: &Reading,
) -> Option<(Factor, Rehearsal)> {
    let source = sources.add("--rehearse", text.to_owned());
    let whole = At { source, start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
    let refuse = |at: At, message: String| {
        reading.report(Report::at(at, message).help("write `--rehearse warmup=2s,5s,15s`"));
    };
    let Some((_, list)) = text.split_once('=').filter(|(key, _)| key.trim() == FACTOR) else {
        refuse(whole, "`--rehearse` takes `warmup=` and its lengths".to_owned());
        return None;
    };
    if let Some(node) = file_factors.get(FACTOR) {
        let message =
            format!("factor `{FACTOR}` is in the bench; `--rehearse` adds one of this name");
        reading.report(Report::at(node.key, message).help("rehearse without it, or rename it"));
        return None;
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut recorded = Vec::new();
    let mut start = text.len() - list.len();
    for part in list.split(',') {
        let at = whole.with_range(&(start..start + part.len()));
        start += part.len() + 1;
        let part = part.trim();
        let value = part.parse().map_or_else(|_| Value::Text(part.to_owned()), Value::Int);
        let node = Node::new(value, at);
        let extent = match typed::extent(&node) {
            Ok(extent) => extent,
            Err(bad) => {
                reading.refuse(&node, bad);
                return None;
            }
        };
        let name = words::swept_name(part);
        if recorded.iter().any(|(known, other)| *known == name || *other == extent) {
            refuse(at, format!("`{part}` is there twice"));
            return None;
        }
        let path = KEY.map(str::to_owned);
        levels.push(Level {
            name: name.clone(),
            twin: None,
            patch: node::nest(&path, node, at),
            follows_baseline: false,
            positive: false,
            at,
        });
        recorded.push((name, extent));
    }
    let mixed = |wanted: fn(&Extent) -> bool| recorded.iter().any(|(_, extent)| wanted(extent));
    if levels.len() < 2 {
        refuse(whole, "one length shows no trend".to_owned());
        return None;
    }
    if levels.len() > MAX_LENGTHS {
        refuse(whole, format!("more than {MAX_LENGTHS} lengths"));
        return None;
    }
    if mixed(|extent| matches!(extent, Extent::Ns(_)))
        && mixed(|extent| matches!(extent, Extent::Count(_)))
    {
        refuse(whole, "durations and counts of requests have no common order".to_owned());
        return None;
    }
    let factor =
        Factor { name: FACTOR.to_owned(), section: None, levels, baseline: 0, contrasted: false };
    let rehearsal = Rehearsal { factor: FACTOR.to_owned(), key: KEY.join("."), levels: recorded };
    Some((factor, rehearsal))
}
