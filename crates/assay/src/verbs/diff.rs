//! `assay diff`: what changed between two files of one kind.

mod input;

use std::fs;
use std::path::{Path, PathBuf};

use jvm::class_histogram::ClassHistogram;
use profile::diff::{Files, views};
use profile::flame::FlameError;
use profile::naming::Pattern;
use record::profile_diff::{Change, FigureChange, ProfileDiff, Shares, Spread, View};
use record::{Format, units};

use crate::cli::DiffArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;
use input::{Figures, How, Input, Read};

/// Classes listed of a histogram.
const CLASSES: usize = 40;
/// Spans that differ by more than this share are no equal work.
const SPAN_SHARE: f64 = 0.05;

pub(crate) fn run(arguments: &DiffArguments, output: &Output) -> Outcome {
    let own: Vec<Pattern> = arguments.package.iter().map(|text| Pattern::new(text)).collect();
    let controls: Vec<Pattern> = arguments.controls.iter().map(|text| Pattern::new(text)).collect();
    let interval = arguments.interval.as_deref().map(|text| {
        units::duration_ns(text).map_err(|error| Failure::wrong(format!("--interval: {error}")))
    });
    let how =
        How { own: &arguments.package, bytes: arguments.bytes, interval_ns: interval.transpose()? };
    let read = |path: &Path| Input::read(path, &how);
    let mut before = read(&arguments.before)?;
    let mut after = read(&arguments.after)?;
    let mut null = arguments.null.as_deref().map(read).transpose()?;
    for other in [Some(&after), null.as_ref()].into_iter().flatten() {
        if other.side.kind != before.side.kind {
            return Err(Failure::wrong(format!(
                "`{}` is {} and `{}` is {}: two of one kind can be compared",
                before.side.file, before.side.kind, other.side.file, other.side.kind
            )));
        }
    }
    if let Some(counts) = arguments.operations {
        before.side.operations = Some(counts.before);
        after.side.operations = Some(counts.after);
        match &mut null {
            Some(null) => null.side.operations = counts.null.or(null.side.operations),
            None if counts.null.is_some() => {
                return Err(Failure::wrong("--operations: the third count is of --null, name it"));
            }
            None => {}
        }
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
    if let (None, Some(a), Some(b)) = (operations, before.side.span_ns, after.side.span_ns)
        && a.abs_diff(b) as f64 > SPAN_SHARE * a.max(b) as f64
    {
        notes.push(
            "The spans differ: absolute figures compare only where the work was the same; \
             --operations scales them."
                .to_owned(),
        );
    }
    if operations.is_some() && null.is_some_and(|null| null.side.operations.is_none()) {
        notes.push(
            "The operations of the null are not known and taken to be those of the first side."
                .to_owned(),
        );
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
        notes: Vec::new(),
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

/// `FILE` is the difference, and beside it `FILE` with `.before` and `.after` in front of its
/// extension are the sides. Of several kinds of sample the first has these names, the others their
/// word too.
fn graphs(file: &Path, before: &Input, after: &Input) -> Result<(), Failure> {
    let (before_stacks, after_stacks) = (before.stacks()?, after.stacks()?);
    let pairs = before_stacks.iter().filter_map(|(what, a)| {
        let (_, b) = after_stacks.iter().find(|(other, _)| other == what)?;
        Some((what, a, b))
    });
    let mut drawn = 0;
    for (what, a, b) in pairs {
        let word = if drawn == 0 { String::new() } else { what.replace(' ', "-") };
        let path = |side: &str| beside(file, &[&word, side]);
        let title = |side: &str, input: &Input| format!("{what}, {side}: {}", input.side.file);
        draw(&path("before"), profile::flame::flame_svg(a, &title("before", before)))?;
        draw(&path("after"), profile::flame::flame_svg(b, &title("after", after)))?;
        let sides = format!("{} to {}", before.side.file, after.side.file);
        let title = format!("{what}, {sides}: red grew, blue shrank");
        draw(&path(""), profile::flame::difference_svg(a, b, &title))?;
        drawn += 1;
    }
    if drawn == 0 {
        return Err(Failure::wrong("--flame: both sides have no kind of sample in common"));
    }
    Ok(())
}

/// A path with words in front of its extension, `svg` when it has none.
fn beside(file: &Path, words: &[&str]) -> PathBuf {
    let extension = file.extension().map_or("svg".into(), |end| end.to_string_lossy().into_owned());
    let words: Vec<&str> = words.iter().copied().filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => file.to_owned(),
        false => file.with_extension(format!("{}.{extension}", words.join("."))),
    }
}

fn draw(path: &Path, svg: Result<Vec<u8>, FlameError>) -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::failed(format!("--flame `{}`: {error}", path.display()))
    };
    fs::write(path, svg.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}
