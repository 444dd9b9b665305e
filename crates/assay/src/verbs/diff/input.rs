//! A file to compare, whatever it is: what it holds is told from its first bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jvm::class_histogram::ClassHistogram;
use jvm::gc_log::{self, Clock, GcLog};
use jvm::jfr::Recording;
use jvm::panels::{Counted, Question, Tables};
use profile::Unit;
use profile::collapsed::{self, Collapsed};
use profile::diff::Measured;
use profile::naming::Pattern;
use profile::table::{Figure, Table};
use record::digest::Digest;
use record::profile_diff::Side;
use record::recording::RecordingDigest;

use crate::exit::Failure;
use crate::file_kind::{self, FileKind};

/// A file, read.
pub(super) struct Input {
    pub(super) side: Side,
    pub(super) read: Read,
    /// Whether something of it is missing.
    pub(super) partial: bool,
}

/// What it holds.
pub(super) enum Read {
    Recording(Box<RecordingDigest>, Vec<Tables>),
    Collapsed(Box<Collapsed>),
    GcLog(Box<GcLog>),
    Histogram(ClassHistogram),
}

/// Figures of the collector: name, unit, value.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) rows: Vec<(String, &'static str, u64)>,
    pub(super) span_ns: Option<u64>,
}

impl Input {
    /// Reads a file, or the one recording of a run directory with its count of operations.
    pub(super) fn read(path: &Path, own: &[String], bytes: bool) -> Result<Self, Failure> {
        let (file, operations) =
            if path.is_dir() { of_run(path)? } else { (path.to_owned(), None) };
        let named = |error: &dyn std::fmt::Display| file_kind::named(&file, error);
        let open = || file_kind::open(&file);
        let (kind, _) = file_kind::of(&file).map_err(|error| named(&error))?;
        let mut side = Side { file: path.display().to_string(), operations, ..Side::default() };
        let (read, partial) = match kind {
            FileKind::Recording => {
                "jfr".clone_into(&mut side.kind);
                let recording = Recording::open(&file).map_err(crate::verbs::digest::failure)?;
                let (digest, tables) =
                    jvm::panels::tables(&recording, &Question::default().packages(own));
                side.span_ns = Some(digest.source.span_ns).filter(|span| *span > 0);
                side.jdk.clone_from(&digest.source.jdk);
                side.faults.clone_from(&digest.quality.faults);
                let partial = digest.quality.truncated || digest.quality.recovered;
                (Read::Recording(Box::new(digest), tables), partial)
            }
            FileKind::ClassHistogram => {
                "class_histogram".clone_into(&mut side.kind);
                let histogram = ClassHistogram::read(open()?).map_err(|error| named(&error))?;
                side.faults = histogram.remarks();
                let partial = histogram.is_partial();
                (Read::Histogram(histogram), partial)
            }
            FileKind::GcLog => {
                "gc_log".clone_into(&mut side.kind);
                let log = GcLog::read(open()?).map_err(|error| named(&error))?;
                side.span_ns = log.span_ns;
                side.jdk.clone_from(&log.jdk);
                let partial = log.quality.unfinished || log.quality.broken_events > 0;
                if partial {
                    side.faults
                        .push("the log ends in the middle of a line or has broken events".into());
                }
                (Read::GcLog(Box::new(log)), partial)
            }
            FileKind::Collapsed => {
                "collapsed".clone_into(&mut side.kind);
                let unit = bytes.then_some(Unit::Bytes);
                let options = collapsed::Options { unit, ..collapsed::Options::default() };
                let collapsed = Collapsed::read(open()?, options).map_err(|error| named(&error))?;
                let quality = collapsed.quality;
                if let Some(line) = quality.first_strange_line {
                    let count = quality.strange_lines;
                    side.faults
                        .push(format!("{count} lines are no stacks, the first is line {line}"));
                }
                if collapsed.profile.beyond > 0 {
                    side.faults.push("some stacks are beyond the bound on memory".to_owned());
                }
                let partial = quality.strange_lines > 0 || quality.cut;
                (Read::Collapsed(Box::new(collapsed)), partial)
            }
            FileKind::ThreadDump => {
                return Err(named(
                    &"a thread dump is of one instant: expected a flight recording, collapsed \
                      stacks, a GC log or a class histogram",
                ));
            }
        };
        Ok(Self { side, read, partial })
    }

    /// Tables by kind of sample.
    pub(super) fn measured(&self, own: &[Pattern]) -> Vec<Measured> {
        match &self.read {
            Read::Recording(_, tables) => tables.iter().map(of_recording).collect(),
            Read::Collapsed(collapsed) => vec![Measured::of(&collapsed.profile, own)],
            Read::GcLog(_) | Read::Histogram(_) => Vec::new(),
        }
    }

    /// Figures of the collector.
    pub(super) fn figures(&self) -> Figures {
        let mut rows = Vec::new();
        let mut add = |name: &str, unit, value| rows.push((name.to_owned(), unit, value));
        match &self.read {
            Read::GcLog(log) => {
                let (count, sum_ns, max_ns) = log.pauses_in_all();
                add("pauses", "count", count);
                add("time in pauses", "ns", sum_ns);
                add("longest pause", "ns", max_ns);
                add("full collections", "count", log.full_collections());
                add("collections of old space", "count", log.old_collections);
                add("evacuation failures", "count", log.evacuation_failures);
                let sum = |named: &[gc_log::Named]| named.iter().map(|one| one.sum_ns).sum();
                add("time in concurrent phases", "ns", sum(&log.concurrent));
                if !log.safepoints.is_empty() {
                    add("time at safepoints", "ns", sum(&log.safepoints));
                }
                let after = || log.heap.iter().map(|change| change.after_bytes);
                if let Some((least, last)) = after().min().zip(after().next_back()) {
                    add("lowest heap after a collection", "bytes", least);
                    add("last heap after a collection", "bytes", last);
                }
                let span_ns = log.span_ns.filter(|_| log.clock != Clock::None);
                Figures { rows, span_ns }
            }
            Read::Recording(digest, _) => {
                if let Some(pauses) = &digest.panels.gc_pauses {
                    add("pauses", "count", pauses.count);
                    add("time in pauses", "ns", pauses.sum_ns);
                    add("longest pause", "ns", pauses.max_ns);
                }
                if let Some(heap) = &digest.panels.heap_after_gc {
                    add("collections of old space", "count", heap.old_collections);
                    add("lowest heap after a collection", "bytes", heap.min_bytes);
                    add("last heap after a collection", "bytes", heap.last_bytes);
                }
                Figures { rows, span_ns: self.side.span_ns }
            }
            Read::Collapsed(_) | Read::Histogram(_) => Figures::default(),
        }
    }
}

/// The one recording of a run directory, and the requests that succeeded in its window.
fn of_run(dir: &Path) -> Result<(PathBuf, Option<u64>), Failure> {
    let folder = dir.join("recordings");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    files.retain(|file| file.is_file());
    files.sort();
    let [file] = files.as_slice() else {
        return Err(Failure::wrong(format!(
            "`{}` is a folder: expected one recording in its folder `recordings`, found {}; name \
             the file",
            dir.display(),
            files.len()
        )));
    };
    let digest = fs::read(dir.join(record::layout::DIGEST_JSON)).ok();
    let digest = digest.and_then(|bytes| serde_json::from_slice::<Digest>(&bytes).ok());
    let operations = digest.and_then(|digest| digest.load).map(|load| load.succeeded);
    Ok((file.clone(), operations.filter(|count| *count > 0)))
}

fn of_recording(tables: &Tables) -> Measured {
    let unit = match tables.unit {
        "bytes" => Unit::Bytes,
        "ns" => Unit::Nanoseconds,
        _ => Unit::Samples,
    };
    let table = |rows: &BTreeMap<String, Counted>| {
        let mut table = Table { total: figure(tables.total), ..Table::default() };
        for (name, counted) in rows {
            table.add(name, figure(*counted));
        }
        table
    };
    let allocation = unit == Unit::Bytes;
    Measured {
        what: tables.what.to_owned(),
        unit,
        interval_ns: tables.period_ns,
        sites: table(&tables.sites),
        others: Some(match allocation {
            true => ("type", table(&tables.types)),
            false => ("frame", table(&tables.inclusive)),
        }),
        inclusive: (!allocation).then(|| table(&tables.inclusive)),
    }
}

/// The sum of squares is at most the heaviest sample times the sum: the bound on noise is never
/// too small.
fn figure(counted: Counted) -> Figure {
    Figure {
        weight: counted.weight,
        samples: counted.samples,
        squares: counted.heaviest as f64 * counted.weight as f64,
    }
}
