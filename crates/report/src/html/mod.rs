//! `matrix.html`: a label to look at before reading: the answer, the doubts, the evidence.
//!
//! One self-contained page of HTML and inline SVG. It needs no script, refers to nothing outside
//! itself, and carries no style attribute, so that it stands under the strictest policy that
//! allows one style sheet. It is drawn by the same rules whoever looks: every figure has a name,
//! a description and a table that says the same; no meaning is in colour alone; black on white on
//! paper. The same page gives the same bytes.
//!
//! [`markup`] escapes all text, [`scale`] and [`axis`] map values to places and words, [`plot`]
//! holds what figures share, [`select`] what they choose from a page; then one file for each
//! figure.

mod answer;
mod axis;
mod beside;
mod effects;
mod markup;
mod order;
mod percentiles;
mod plot;
mod recording;
mod runs;
mod scale;
mod select;
mod series;
mod style;
mod table;
mod timeline;

use record::compare::Contrast;
use record::page::Page;

use markup::Markup;

pub use recording::recording_html;

/// Renders the page.
#[must_use]
pub fn matrix_html(page: &Page) -> String {
    let mut markup = Markup::default();
    markup.open("html", &[("lang", &"en")]);
    markup.open("head", &[]);
    markup.empty("meta", &[("charset", &"utf-8")]);
    markup.empty(
        "meta",
        &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")],
    );
    markup.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
    markup.element("title", &[], &format!("{}: matrix", page.matrix.label));
    markup.style(style::SHEET);
    markup.close().open("body", &[]);
    markup.element("a", &[("class", &"skip"), ("href", &"#answer")], "Skip to the answer");
    patterns(&mut markup);
    answer::header(&mut markup, page);
    contents(&mut markup);
    markup.open("main", &[]);
    answer::answer(&mut markup, page);
    answer::all_doubts(&mut markup, page);
    evidence(&mut markup, page);
    beside::tables(&mut markup, &page.matrix.tables, &select::primaries(page));
    other_metrics(&mut markup, page);
    markup.close();
    let words = "Drawn from the kept records of this label. A figure that failed a check is named \
                 and left out, never averaged in.";
    markup.open("footer", &[]).element("p", &[], words).close();
    markup.close().close();
    format!("<!DOCTYPE html>\n{}", markup.finish())
}

/// The patterns of areas that must not be told by colour; every drawing refers to them.
fn patterns(markup: &mut Markup) {
    markup.open("svg", &[("class", &"shared"), ("aria-hidden", &"true"), ("focusable", &"false")]);
    markup.open("defs", &[]);
    for (id, size, stroke) in [("noise", "7", "M-1 8L8 -1"), ("hatch", "5", "M-1 -1L6 6")] {
        let attributes: [markup::Attribute<'_>; 4] =
            [("id", &id), ("width", &size), ("height", &size), ("patternUnits", &"userSpaceOnUse")];
        markup.open("pattern", &attributes);
        markup.empty("path", &[("d", &stroke)]).close();
    }
    markup.close().close();
}

/// Links to the sections and figures.
fn contents(markup: &mut Markup) {
    markup.open("nav", &[("aria-label", &"contents")]).open("ul", &[]);
    for (id, name) in [
        ("#answer", "Answer"),
        ("#doubts", "Doubts"),
        ("#effects", "Effects"),
        ("#runs", "Every run"),
        ("#order", "Order"),
        ("#percentiles", "Percentiles"),
        ("#series", "Seconds"),
        ("#timeline", "Timeline"),
        ("#beside", "Tables"),
        ("#others", "Other metrics"),
    ] {
        markup.open("li", &[]).element("a", &[("href", &id)], name).close();
    }
    markup.close().close();
}

/// The figures, from what answers the question to what it rests on.
fn evidence(markup: &mut Markup, page: &Page) {
    markup.open("section", &[("aria-labelledby", &"evidence")]);
    markup.element("h2", &[("id", &"evidence")], "Evidence");
    effects::figure(markup, page);
    runs::figure(markup, page);
    order::figure(markup, page);
    percentiles::figure(markup, page);
    series::figure(markup, page);
    timeline::figure(markup, page);
    markup.close();
}

/// The contrasts of the metrics that are not primary.
fn other_metrics(markup: &mut Markup, page: &Page) {
    let others: Vec<&Contrast> =
        page.matrix.contrasts.iter().filter(|contrast| !contrast.primary).collect();
    markup.open("section", &[("aria-labelledby", &"others")]);
    markup.element("h2", &[("id", &"others"), ("tabindex", &"-1")], "Other metrics");
    if others.is_empty() {
        markup.element("p", &[], "There are none.");
    } else {
        let words = "Exploratory: among many metrics some differ by chance.";
        markup.element("p", &[], words);
        answer::table("the other metrics, exploratory", &others).fold(markup);
    }
    markup.close();
}
