//! A file to compare, whatever it is: what it holds is told from its first bytes.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jvm::class_histogram::ClassHistogram;
use jvm::gc_log::{self, Clock, GcLog};
use jvm::jfr::Recording;
use jvm::panels::{Counted, Question, Stacks, Tables};
use profile::collapsed::{self, Collapsed};
use profile::diff::Measured;
use profile::naming::{Naming, Pattern};
use profile::table::{Figure, Table};
use profile::{BEYOND, Limits, Profile, Unit};
use record::load::LoadRecord;
use record::profile_diff::Side;
use record::recording::RecordingDigest;

use crate::exit::Failure;
use crate::file_kind::{self, FileKind};

/// How files are read.
pub(super) struct How<'a> {
    /// Prefixes of own code.
    pub(super) own: &'a [String],
    /// The weights of collapsed stacks are bytes.
    pub(super) bytes: bool,
    /// How long one of their samples stands for.
    pub(super) interval_ns: Option<u64>,
}

/// A file, read.
pub(super) struct Input {
    pub(super) side: Side,
    /// The file itself, where `side` names a run directory.
    pub(super) file: PathBuf,
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
    pub(super) fn read(path: &Path, how: &How<'_>) -> Result<Self, Failure> {
        let (file, operations) =
            if path.is_dir() { of_run(path)? } else { (path.to_owned(), None) };
        let named = |error: &dyn std::fmt::Display| file_kind::named(&file, error);
        let open = || file_kind::open(&file);
        let (kind, _) = file_kind::of(&file)?;
        let mut side = Side { file: path.display().to_string(), operations, ..Side::default() };
        let (read, partial) = match kind {
            FileKind::Recording => {
                "jfr".clone_into(&mut side.kind);
                let recording = Recording::open(&file).map_err(crate::verbs::digest::failure)?;
                let (digest, tables) =
                    jvm::panels::tables(&recording, &Question::default().packages(how.own));
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
                let unit = how.bytes.then_some(Unit::Bytes);
                let options = collapsed::Options { unit, ..collapsed::Options::default() };
                let mut collapsed =
                    Collapsed::read(open()?, options).map_err(|error| named(&error))?;
                if collapsed.profile.unit == Unit::Samples {
                    collapsed.profile.interval_ns = how.interval_ns;
                }
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
        Ok(Self { side, file, read, partial })
    }

    /// Whole stacks for a graph, by kind of sample; a recording is read again for them.
    pub(super) fn stacks(&self) -> Result<Vec<(String, Cow<'_, Profile>)>, Failure> {
        match &self.read {
            Read::Collapsed(collapsed) => {
                let what = match collapsed.profile.unit {
                    Unit::Bytes => "allocation",
                    Unit::Samples | Unit::Nanoseconds => "cpu",
                };
                Ok(vec![(what.to_owned(), Cow::Borrowed(&collapsed.profile))])
            }
            Read::Recording(..) => {
                let recording =
                    Recording::open(&self.file).map_err(crate::verbs::digest::failure)?;
                let kinds = jvm::panels::stacks(&recording, &Question::default());
                let profile = |kind: &Stacks| (kind.what.to_owned(), Cow::Owned(profile_of(kind)));
                Ok(kinds.iter().map(profile).collect())
            }
            Read::GcLog(_) | Read::Histogram(_) => Err(file_kind::named(
                &self.file,
                &"--flame draws stacks, which only a flight recording or collapsed stacks hold",
            )),
        }
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
    let load = fs::read(dir.join(record::layout::LOAD)).ok();
    let load = load.and_then(|bytes| serde_json::from_slice::<LoadRecord>(&bytes).ok());
    let operations = load.map(|load| load.succeeded).filter(|count| *count > 0);
    Ok((file.clone(), operations))
}

/// What weights count by the word of the panels.
fn unit(word: &str) -> Unit {
    match word {
        "bytes" => Unit::Bytes,
        "ns" => Unit::Nanoseconds,
        _ => Unit::Samples,
    }
}

/// A frame as it is shown: a native one has no class and begins with a dot.
fn frame(name: &str) -> &str {
    name.strip_prefix('.').unwrap_or(name)
}

fn profile_of(kind: &Stacks) -> Profile {
    let mut profile = Profile::new(unit(kind.unit), Naming::Canonical, Limits::default());
    for stack in &kind.stacks {
        let frames = stack.frames.iter().map(|name| frame(name).as_bytes());
        profile.add(frames, figure(stack.counted));
    }
    if kind.beyond.weight > 0 {
        profile.add([BEYOND.as_bytes()], figure(kind.beyond));
    }
    profile
}

fn of_recording(tables: &Tables) -> Measured {
    let unit = unit(tables.unit);
    let table = |rows: &BTreeMap<String, Counted>| {
        let mut table = Table { total: figure(tables.total), ..Table::default() };
        for (name, counted) in rows {
            table.add(frame(name), figure(*counted));
        }
        table
    };
    let allocation = unit == Unit::Bytes;
    let mut anywhere = table(&tables.inclusive);
    for (name, counted) in &tables.types {
        anywhere.add(name, figure(*counted));
    }
    Measured {
        what: tables.what.to_owned(),
        unit,
        interval_ns: tables.period_ns,
        sites: table(&tables.sites),
        others: Some(match allocation {
            true => ("type", table(&tables.types)),
            false => ("frame", table(&tables.inclusive)),
        }),
        inclusive: Some(anywhere),
    }
}

fn figure(counted: Counted) -> Figure {
    Figure { weight: counted.weight, samples: counted.samples, squares: counted.squares as f64 }
}
