//! `assay digest --html`: the page of a recording with its two figures drawn.
//!
//! The words and tables are those of the Markdown page, made from its lines, so that the two
//! never differ; the heap after collection and the lengths of pauses are drawn above theirs.

use record::recording::{GcPauses, HeapAfterGc, RecordingDigest};

use super::axis::AxisUnit;
use super::markup::{Markup, path};
use super::plot::{Drawing, Figure, Mark, TINY, WIDTH, mark, told_rect, x_axis, y_axis};
use super::scale::Scale;
use super::style;
use crate::text::{bytes, count, duration};

/// Left and right edge of a plot, px.
const X: [f64; 2] = [70.0, 940.0];
/// Top and bottom of a plot, px.
const Y: [f64; 2] = [14.0, 210.0];
/// Height of a drawing, px.
const HEIGHT: f64 = 250.0;
/// Columns of a line; more values are thinned to the lowest and highest of each.
const COLUMNS: usize = 435;

/// Renders the digests of recordings as one self-contained page of HTML and inline SVG, without
/// a script: `pages` are names and digests.
#[must_use]
pub fn recording_html(pages: &[(String, RecordingDigest)]) -> String {
    let mut markup = Markup::default();
    markup.open("html", &[("lang", &"en")]);
    markup.open("head", &[]);
    markup.empty("meta", &[("charset", &"utf-8")]);
    markup.empty(
        "meta",
        &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")],
    );
    markup.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    markup.element("title", &[], &format!("Recording {}", names.join(", ")));
    markup.style(style::SHEET);
    markup.close().open("body", &[]).open("main", &[]);
    for (at, (name, digest)) in pages.iter().enumerate() {
        Writer { markup: &mut markup, digest, at, open: None, table: Vec::new() }
            .page(&crate::recording_md(name, digest));
    }
    markup.close().close().close();
    format!("<!DOCTYPE html>\n{}", markup.finish())
}

/// What stands open between two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    List,
    Text,
}

struct Writer<'a> {
    markup: &'a mut Markup,
    digest: &'a RecordingDigest,
    /// Number of the page among its siblings, so that identifiers are unique.
    at: usize,
    open: Option<Open>,
    table: Vec<Vec<String>>,
}

impl Writer<'_> {
    fn page(&mut self, lines: &str) {
        let mut in_section = false;
        for line in lines.lines() {
            if self.open == Some(Open::Text) {
                if line == "```" {
                    self.end();
                } else {
                    self.markup.text(line).text("\n");
                }
                continue;
            }
            if let Some(row) = line.strip_prefix("| ") {
                if self.table.is_empty() {
                    self.end();
                }
                self.table.push(cells(row));
                continue;
            }
            if line.starts_with("|---") {
                continue;
            }
            self.write_table();
            if let Some(item) = line.strip_prefix("- ") {
                if self.open != Some(Open::List) {
                    self.end();
                    self.markup.open("ul", &[]);
                    self.open = Some(Open::List);
                }
                self.markup.open("li", &[]);
                self.words(item);
                self.markup.close();
                continue;
            }
            self.end();
            if line == "```text" {
                self.markup.open("pre", &[]);
                self.open = Some(Open::Text);
            } else if let Some(title) = line.strip_prefix("## ") {
                if in_section {
                    self.markup.close();
                }
                in_section = true;
                self.markup.open("section", &[]).element("h2", &[], &plain(title));
                self.figure(title);
            } else if let Some(title) = line.strip_prefix("# ") {
                self.markup.element("h1", &[], &plain(title));
            } else if !line.is_empty() {
                self.markup.open("p", &[]);
                self.words(line.strip_prefix("> ").unwrap_or(line));
                self.markup.close();
            }
        }
        self.write_table();
        self.end();
        if in_section {
            self.markup.close();
        }
    }

    fn end(&mut self) {
        if self.open.take().is_some() {
            self.markup.close();
        }
    }

    /// Text with its strong words.
    fn words(&mut self, text: &str) {
        for (index, part) in text.split("**").enumerate() {
            if index % 2 == 1 {
                self.markup.element("strong", &[], &plain(part));
            } else {
                self.markup.text(&plain(part));
            }
        }
    }

    fn write_table(&mut self) {
        let rows = std::mem::take(&mut self.table);
        let Some((head, rows)) = rows.split_first() else { return };
        let class = |column: usize| if column == 0 { "words" } else { "figures" };
        self.markup.open("div", &[("class", &"scroll")]).open("table", &[]);
        self.markup.open("thead", &[]).open("tr", &[]);
        for (column, name) in head.iter().enumerate() {
            self.markup.element("th", &[("scope", &"col"), ("class", &class(column))], name);
        }
        self.markup.close().close().open("tbody", &[]);
        for row in rows {
            self.markup.open("tr", &[]);
            for (column, value) in row.iter().enumerate() {
                self.markup.element("td", &[("class", &class(column))], value);
            }
            self.markup.close();
        }
        self.markup.close().close().close();
    }

    fn figure(&mut self, title: &str) {
        let panels = &self.digest.panels;
        match title {
            "Heap after collection" => {
                if let Some(panel) = panels.heap_after_gc.as_ref().filter(|it| !it.rows.is_empty())
                {
                    heap(self.markup, self.at, panel);
                }
            }
            "GC pauses" => {
                if let Some(panel) = panels.gc_pauses.as_ref().filter(|it| it.count > 0) {
                    pauses(self.markup, self.at, panel);
                }
            }
            _ => {}
        }
    }
}

/// The cells of a row; an escaped bar is none.
fn cells(row: &str) -> Vec<String> {
    let row = row.strip_suffix(" |").unwrap_or(row);
    row.split(" | ").map(plain).collect()
}

/// Text without the escapes of Markdown.
fn plain(text: &str) -> String {
    text.replace("\\|", "|")
}

/// The series, each value an upright stroke's end; collections of old space are marked.
fn heap(markup: &mut Markup, at: usize, panel: &HeapAfterGc) {
    let first_ns = panel.rows.first().map_or(0, |row| row.at_ns);
    let seconds = |at_ns: u64| at_ns.saturating_sub(first_ns) as f64;
    let last = panel.rows.last().map_or(1.0, |row| seconds(row.at_ns)).max(1.0);
    let highest = panel.max_bytes.max(1) as f64;
    let x = Scale::exactly(0.0, last, X);
    let y = Scale::exactly(0.0, highest * 1.05, [Y[1], Y[0]]);
    let description = format!(
        "{} values, lowest {}, last {}, highest {}; {}: {}",
        count(panel.rows.len() as u64),
        bytes(Some(panel.min_bytes)),
        bytes(Some(panel.last_bytes)),
        bytes(Some(panel.max_bytes)),
        panel.shape,
        panel.reason
    );
    let figure = Figure {
        id: ["heap", "heap-2", "heap-3", "heap-4"][at.min(3)],
        heading: "Bytes in use after each collection",
        caption: "Time from the first collection to the right. Squares are collections that \
                  looked at old space. The plot below in words says the same.",
    };
    figure.write(markup, |markup| {
        let drawing = Drawing {
            id: format!("heap-drawing-{at}"),
            width: WIDTH,
            height: HEIGHT,
            title: "Heap after collection",
            description: &description,
        };
        drawing.write(markup, |markup| {
            let unit = AxisUnit::of("bytes", highest);
            let (ticks, labels) = unit.ticks(&y, 5);
            let labels: Vec<String> =
                labels.into_iter().map(|label| format!("{label} {}", unit.name)).collect();
            y_axis(markup, &y, &ticks, &labels, X);
            let unit = AxisUnit::of("ns", last);
            let (ticks, labels) = unit.ticks(&x, 8);
            let labels: Vec<String> =
                labels.into_iter().map(|label| format!("{label} {}", unit.name)).collect();
            x_axis(markup, &x, &ticks, &labels, Y);
            let each = panel.rows.len().div_ceil(COLUMNS);
            let mut points = Vec::new();
            for column in panel.rows.chunks(each) {
                let mut ends = [column[0], column[0]];
                for row in column {
                    if row.used_bytes < ends[0].used_bytes {
                        ends[0] = *row;
                    }
                    if row.used_bytes > ends[1].used_bytes {
                        ends[1] = *row;
                    }
                }
                ends.sort_by_key(|row| row.at_ns);
                let kept = if each == 1 { &ends[..1] } else { &ends[..] };
                points.extend(kept.iter().map(|row| {
                    Some((x.position(seconds(row.at_ns)), y.position(row.used_bytes as f64)))
                }));
            }
            if points.len() > 1 {
                markup.empty("path", &[("class", &"line rate thin"), ("d", &path(&points))]);
            }
            let old: Vec<_> = panel.rows.iter().filter(|row| row.old).collect();
            // Where every collection looks at old space a mark says nothing.
            let marked = if old.len() < panel.rows.len() { old } else { Vec::new() };
            for row in marked.iter().step_by(marked.len().div_ceil(COLUMNS).max(1)) {
                let place = (x.position(seconds(row.at_ns)), y.position(row.used_bytes as f64));
                mark(markup, Mark::Square, place, TINY, &bytes(Some(row.used_bytes)));
            }
        });
    });
}

/// Pauses by length, a bar for each bin up to the longest.
fn pauses(markup: &mut Markup, at: usize, panel: &GcPauses) {
    let used = panel.histogram.iter().rposition(|bin| bin.count > 0).map_or(0, |last| last + 1);
    let bins = &panel.histogram[..used];
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
    let y = Scale::exactly(0.0, most as f64 * 1.05, [Y[1], Y[0]]);
    let description = format!(
        "{} pauses, {} in all, {} at most",
        count(panel.count),
        duration(Some(panel.sum_ns)),
        duration(Some(panel.max_ns))
    );
    let figure = Figure {
        id: ["pauses", "pauses-2", "pauses-3", "pauses-4"][at.min(3)],
        heading: "Pauses by length",
        caption: "How many pauses were shorter than the bound below the bar and no shorter than \
                  the one before it.",
    };
    figure.write(markup, |markup| {
        let drawing = Drawing {
            id: format!("pauses-drawing-{at}"),
            width: WIDTH,
            height: HEIGHT,
            title: "GC pauses by length",
            description: &description,
        };
        drawing.write(markup, |markup| {
            let unit = AxisUnit::of("", 0.0);
            let ticks: Vec<f64> =
                y.ticks(5).into_iter().filter(|tick| tick.fract() == 0.0).collect();
            y_axis(markup, &y, &ticks, &unit.labels(&ticks), X);
            let width = (X[1] - X[0]) / bins.len().max(1) as f64;
            for (index, bin) in bins.iter().enumerate() {
                let left = X[0] + width * index as f64;
                let bound = bin.below_ns.map_or_else(
                    || "longer".to_owned(),
                    |bound| format!("< {}", duration(Some(bound))),
                );
                if bin.count > 0 {
                    let told = format!("{}: {}", bound, count(bin.count));
                    let top = (left + 4.0, y.position(bin.count as f64));
                    told_rect(markup, "bar valid", top, (left + width - 4.0, Y[1]), &told);
                }
                let place = super::markup::Px(left + width / 2.0);
                let below = super::markup::Px(Y[1] + 16.0);
                let attributes: [super::markup::Attribute<'_>; 3] =
                    [("class", &"tick middle"), ("x", &place), ("y", &below)];
                markup.element("text", &attributes, &bound);
            }
        });
    });
}
