//! `assay diff`: what changed between two files of one kind.

mod input;

use std::fs;
use std::path::{Path, PathBuf};

use jvm::class_histogram::ClassHistogram;
use profile::diff::{Files, views};
use profile::naming::Pattern;
use record::Format;
use record::profile_diff::{Change, FigureChange, ProfileDiff, Shares, Spread, View};

use crate::cli::DiffArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;
use input::{Figures, Input, Read};

/// Classes listed of a histogram.
const CLASSES: usize = 40;
/// Spans that differ by more than this share are no equal work.
const SPAN_SHARE: f64 = 0.05;

pub(crate) fn run(arguments: &DiffArguments, output: &Output) -> Outcome {
    let own: Vec<Pattern> = arguments.package.iter().map(|text| Pattern::new(text)).collect();
    let controls: Vec<Pattern> = arguments.controls.iter().map(|text| Pattern::new(text)).collect();
    let read = |path: &Path| Input::read(path, &arguments.package, arguments.bytes);
    let mut before = read(&arguments.before)?;
    let mut after = read(&arguments.after)?;
    let null = arguments.null.as_deref().map(read).transpose()?;
    for other in [Some(&after), null.as_ref()].into_iter().flatten() {
        if other.side.kind != before.side.kind {
            return Err(Failure::wrong(format!(
                "`{}` is {} and `{}` is {}: two of one kind can be compared",
                before.side.file, before.side.kind, other.side.file, other.side.kind
            )));
        }
    }
    if let Some([a, b]) = arguments.operations {
        (before.side.operations, after.side.operations) = (Some(a), Some(b));
    }
    let known = |pattern: &&Pattern| {
        !before.measured(&own).iter().chain(&after.measured(&own)).any(|one| one.has(pattern))
    };
    let stacks = matches!(before.read, Read::Recording(..) | Read::Collapsed(_));
    if let Some(nowhere) = own.iter().chain(&controls).find(known).filter(|_| stacks) {
        return Err(Failure::wrong(format!(
            "`{}` matches no frame of either side; prefixes have dots or slashes and end at a \
             package, a class or a method",
            nowhere.written()
        )));
    }
    let diff = difference(&before, &after, null.as_ref(), &own, &controls);
    if let Some(file) = &arguments.flame {
        graphs(file, &before, &after)?;
    }
    output.result(arguments.json.json.as_ref(), &diff, || report::profile_diff_text(&diff))?;
    let refused = diff.views.iter().any(|view| view.shares == Shares::Refused);
    let partial = [Some(&before), Some(&after), null.as_ref()].into_iter().flatten();
    let partial = partial.into_iter().any(|input| input.partial);
    Ok(if refused || partial { Status::Doubtful } else { Status::Done })
}

fn difference(
    before: &Input,
    after: &Input,
    null: Option<&Input>,
    own: &[Pattern],
    controls: &[Pattern],
) -> ProfileDiff {
    let operations = before.side.operations.zip(after.side.operations).map(|(a, b)| [a, b]);
    let measured = (before.measured(own), after.measured(own));
    let of_null = null.map(|null| null.measured(own));
    let files = Files {
        before: &measured.0,
        after: &measured.1,
        null: of_null.as_deref(),
        operations,
        null_operations: null.and_then(|null| null.side.operations),
    };
    let (mut views, absent) = views(files, controls);
    if let (Read::Histogram(a), Read::Histogram(b)) = (&before.read, &after.read) {
        views.push(classes(a, b));
    }
    let mut notes = Vec::new();
    if let (None, Some(a), Some(b)) = (operations, before.side.span_ns, after.side.span_ns) {
        if a.abs_diff(b) as f64 > SPAN_SHARE * a.max(b) as f64 {
            notes.push(
                "The spans differ: absolute figures compare only where the work was the same; \
                 --operations scales them."
                    .to_owned(),
            );
        }
    }
    ProfileDiff {
        format: Format::v1("assay.profile_diff"),
        before: before.side.clone(),
        after: after.side.clone(),
        null: null.map(|null| null.side.clone()),
        views,
        figures: figures(&before.figures(), &after.figures()),
        absent,
        notes,
    }
}

/// Two histograms as a view: the heap by class, most grown first. They count; there is no spread.
fn classes(before: &ClassHistogram, after: &ClassHistogram) -> View {
    let difference = before.difference(after);
    let change =
        |name: &str, a: jvm::class_histogram::Amount, b: jvm::class_histogram::Amount| Change {
            name: name.to_owned(),
            before: a.bytes,
            after: b.bytes,
            instances_before: Some(a.instances),
            instances_after: Some(b.instances),
            ..Change::default()
        };
    let rest = difference.rows.len().saturating_sub(CLASSES) as u64;
    let rows = difference.rows.iter().take(CLASSES).map(|row| {
        let module = row.module.as_ref().map_or(String::new(), |module| format!(" ({module})"));
        change(&format!("{}{module}", row.class), row.before, row.after)
    });
    View {
        what: "heap".to_owned(),
        by: "class".to_owned(),
        unit: "bytes".to_owned(),
        interval_ns: None,
        total: change("(all)", difference.before, difference.after),
        spread: Spread { how: "counted".to_owned(), ..Spread::default() },
        controls: Vec::new(),
        shares: Shares::NoControls,
        rows: rows.collect(),
        rest_rows: rest,
        left: Vec::new(),
        entered: Vec::new(),
        top: 0,
    }
}

/// Figures that both sides have.
fn figures(before: &Figures, after: &Figures) -> Vec<FigureChange> {
    let share = |value: u64, unit: &str, span: Option<u64>| {
        span.filter(|span| *span > 0 && unit == "ns").map(|span| value as f64 / span as f64)
    };
    let both = before.rows.iter().filter_map(|(name, unit, a)| {
        let (_, _, b) = after.rows.iter().find(|(other, _, _)| other == name)?;
        let is_sum = name.starts_with("time");
        Some(FigureChange {
            name: name.clone(),
            unit: (*unit).to_owned(),
            before: *a,
            after: *b,
            share_before: share(*a, unit, before.span_ns).filter(|_| is_sum),
            share_after: share(*b, unit, after.span_ns).filter(|_| is_sum),
        })
    });
    both.collect()
}

/// `FILE`, and beside it `FILE` with `.before` and `.after` in front of its extension.
fn graphs(file: &Path, before: &Input, after: &Input) -> Result<(), Failure> {
    let (Read::Collapsed(a), Read::Collapsed(b)) = (&before.read, &after.read) else {
        return Err(Failure::wrong(
            "--flame draws collapsed stacks; this version draws none of other files",
        ));
    };
    let title = |side: &str, input: &Input| format!("{side}: {}", input.side.file);
    let draw = |path: PathBuf, svg: Result<Vec<u8>, profile::flame::FlameError>| {
        let svg = svg.map_err(Failure::wrong)?;
        fs::write(&path, svg).map_err(|e| Failure::failed(format!("{}: {e}", path.display())))
    };
    let beside = |word: &str| {
        let extension = file.extension().map_or("svg".into(), |e| e.to_string_lossy().into_owned());
        file.with_extension(format!("{word}.{extension}"))
    };
    let (a, b) = (&a.profile, &b.profile);
    draw(beside("before"), profile::flame::flame_svg(a, &title("before", before)))?;
    draw(beside("after"), profile::flame::flame_svg(b, &title("after", after)))?;
    let title = format!("{} to {}: red grew, blue shrank", before.side.file, after.side.file);
    draw(file.to_owned(), profile::flame::difference_svg(a, b, &title))
}
