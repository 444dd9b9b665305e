//! What the figures are made of: the frame of a figure, an SVG with its name and description,
//! axes, row labels, and marks that differ in shape and not in colour alone.

use std::fmt::Display;

use super::markup::{Attribute, Markup, Px};
use super::scale::Scale;
use crate::text::cut;

/// Width of a full drawing, px.
pub(crate) const WIDTH: f64 = 960.0;
/// Mean width of a character of the small text, px, on the safe side.
const CHARACTER: f64 = 6.8;

/// A figure: its heading, and what it shows and how to read it.
pub(crate) struct Figure<'a> {
    /// Identifier in the page.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) heading: &'a str,
    /// What is drawn, how it is read, and what is left out.
    pub(crate) caption: &'a str,
}

impl Figure<'_> {
    /// Opens section, heading and figure; `body` draws what is inside.
    pub(crate) fn write(&self, markup: &mut Markup, body: impl FnOnce(&mut Markup)) {
        let heading_id = format!("{}-heading", self.id);
        markup.open("section", &[("aria-labelledby", &heading_id)]);
        markup.element("h3", &[("id", &heading_id)], self.heading);
        let attributes: [Attribute<'_>; 4] = [
            ("id", &self.id),
            ("tabindex", &0),
            ("role", &"group"),
            ("aria-labelledby", &heading_id),
        ];
        markup.open("figure", &attributes);
        markup.element("figcaption", &[], self.caption);
        body(markup);
        markup.close().close();
    }
}

/// A drawing: its size, and its name and description for those who do not see it.
pub(crate) struct Drawing<'a> {
    /// Identifier in the page; unique.
    pub(crate) id: String,
    /// Width, px.
    pub(crate) width: f64,
    /// Height, px.
    pub(crate) height: f64,
    /// Name.
    pub(crate) title: &'a str,
    /// What it says, in a sentence.
    pub(crate) description: &'a str,
}

impl Drawing<'_> {
    /// Opens the drawing; `body` draws what is inside.
    pub(crate) fn write(&self, markup: &mut Markup, body: impl FnOnce(&mut Markup)) {
        let (title, description) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let class = if self.width < WIDTH { "small" } else { "wide" };
        let attributes: [Attribute<'_>; 6] = [
            ("class", &class),
            ("role", &"img"),
            ("aria-labelledby", &format!("{title} {description}")),
            ("viewBox", &format!("0 0 {} {}", Px(self.width), Px(self.height))),
            ("width", &Px(self.width)),
            ("height", &Px(self.height)),
        ];
        markup.open("svg", &attributes);
        markup.element("title", &[("id", &title)], self.title);
        markup.element("desc", &[("id", &description)], self.description);
        body(markup);
        markup.close();
    }
}

/// Text that fits `width` px; whole text in a tooltip where it was cut.
pub(crate) fn label(markup: &mut Markup, at: (f64, f64), width: f64, class: &str, text: &str) {
    let most = (width / CHARACTER).floor().max(3.0) as usize;
    let shown = cut(text, most);
    markup.open("text", &[("x", &Px(at.0)), ("y", &Px(at.1)), ("class", &class)]);
    if shown != text {
        markup.element("title", &[], text);
    }
    markup.text(&shown).close();
}

/// Space that text takes, px.
pub(crate) fn width_of(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// A straight line.
pub(crate) fn line(markup: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    markup.empty(
        "line",
        &[
            ("class", &class),
            ("x1", &Px(from.0)),
            ("y1", &Px(from.1)),
            ("x2", &Px(to.0)),
            ("y2", &Px(to.1)),
        ],
    );
}

/// A rectangle between two corners; at least a pixel wide, so that nothing vanishes.
pub(crate) fn rect(markup: &mut Markup, class: &str, from: (f64, f64), to: (f64, f64)) {
    markup.empty("rect", &rect_attributes(&class, &sizes(from, to)));
}

/// A rectangle with a tooltip.
pub(crate) fn told_rect(
    markup: &mut Markup,
    class: &str,
    from: (f64, f64),
    to: (f64, f64),
    tooltip: &str,
) {
    markup.open("rect", &rect_attributes(&class, &sizes(from, to)));
    markup.element("title", &[], tooltip).close();
}

fn sizes(from: (f64, f64), to: (f64, f64)) -> [Px; 4] {
    let (left, right) = (from.0.min(to.0), from.0.max(to.0));
    let (top, bottom) = (from.1.min(to.1), from.1.max(to.1));
    [Px(left), Px(top), Px((right - left).max(1.0)), Px((bottom - top).max(1.0))]
}

fn rect_attributes<'a>(
    class: &'a dyn Display,
    [x, y, width, height]: &'a [Px; 4],
) -> [Attribute<'a>; 5] {
    [("class", class), ("x", x), ("y", y), ("width", width), ("height", height)]
}

/// A horizontal axis below a plot, with grid lines up to `top`. The words of neighbouring ticks
/// never touch: a label without room is left out, its grid line stays.
pub(crate) fn x_axis(
    markup: &mut Markup,
    scale: &Scale,
    ticks: &[f64],
    labels: &[String],
    [top, bottom]: [f64; 2],
) {
    let mut free_from = f64::NEG_INFINITY;
    for (tick, label) in ticks.iter().zip(labels) {
        let x = scale.position(*tick);
        line(markup, "grid", (x, top), (x, bottom));
        let half = width_of(label) / 2.0;
        if x - half >= free_from {
            markup.element(
                "text",
                &[("class", &"tick middle"), ("x", &Px(x)), ("y", &Px(bottom + 16.0))],
                label,
            );
            free_from = x + half + 6.0;
        }
    }
}

/// A vertical axis left of a plot, with grid lines over its width.
pub(crate) fn y_axis(
    markup: &mut Markup,
    scale: &Scale,
    ticks: &[f64],
    labels: &[String],
    [left, right]: [f64; 2],
) {
    for (tick, label) in ticks.iter().zip(labels) {
        let y = scale.position(*tick);
        line(markup, "grid", (left, y), (right, y));
        markup.element(
            "text",
            &[("class", &"tick end"), ("x", &Px(left - 6.0)), ("y", &Px(y + 4.0))],
            label,
        );
    }
}

/// Class of marks that are small since there are many.
pub(crate) const TINY: &str = "tiny";

/// Shapes of marks. No two differ in colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A valid run: a filled circle.
    Filled,
    /// The other of two kinds: a hollow circle.
    Hollow,
    /// A figure that is only a bound: a hollow triangle.
    Bound,
    /// A void run: a cross.
    Void,
    /// An estimate: a filled diamond.
    Estimate,
    /// An estimate that must not be used: a hollow diamond.
    HollowEstimate,
    /// Filled square.
    Square,
    /// Filled triangle.
    Triangle,
}

/// Draws a mark, with a tooltip where there is a text for one.
pub(crate) fn mark(
    markup: &mut Markup,
    mark: Mark,
    (x, y): (f64, f64),
    class: &str,
    tooltip: &str,
) {
    let (shape, class) = match mark {
        Mark::Filled => (None, format!("filled {class}")),
        Mark::Hollow => (None, format!("hollow {class}")),
        Mark::Bound => (
            Some(polygon(&[(0.0, -4.5), (4.2, 3.2), (-4.2, 3.2)], x, y)),
            "hollow bound".to_owned(),
        ),
        Mark::Void => (Some(cross(x, y)), "cross".to_owned()),
        Mark::Estimate => (Some(diamond(x, y)), format!("filled {class}")),
        Mark::HollowEstimate => (Some(diamond(x, y)), format!("hollow {class}")),
        Mark::Square => (
            Some(polygon(&[(-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)], x, y)),
            format!("filled {class}"),
        ),
        Mark::Triangle => (
            Some(polygon(&[(0.0, -4.8), (4.4, 3.4), (-4.4, 3.4)], x, y)),
            format!("filled {class}"),
        ),
    };
    let class = class.trim_end();
    match &shape {
        Some(path) => markup.open("path", &[("class", &class), ("d", path)]),
        None => markup.open(
            "circle",
            &[
                ("class", &class),
                ("cx", &Px(x)),
                ("cy", &Px(y)),
                ("r", &if class.contains(TINY) { "2" } else { "3.5" }),
            ],
        ),
    };
    if !tooltip.is_empty() {
        markup.element("title", &[], tooltip);
    }
    markup.close();
}

fn polygon(corners: &[(f64, f64)], x: f64, y: f64) -> String {
    let points: Vec<_> = corners.iter().map(|(dx, dy)| Some((x + dx, y + dy))).collect();
    format!("{}Z", super::markup::path(&points))
}

fn diamond(x: f64, y: f64) -> String {
    polygon(&[(0.0, -6.0), (6.0, 0.0), (0.0, 6.0), (-6.0, 0.0)], x, y)
}

fn cross(x: f64, y: f64) -> String {
    let arm = 3.8;
    super::markup::path(&[
        Some((x - arm, y - arm)),
        Some((x + arm, y + arm)),
        None,
        Some((x - arm, y + arm)),
        Some((x + arm, y - arm)),
    ])
}

/// A part of a legend: how to draw a sample at a place, and the words beside it.
pub(crate) type Sample<'a> = (&'a dyn Fn(&mut Markup, (f64, f64)), &'a str);

/// A legend in one line that begins at `left`; gives its end, px.
pub(crate) fn legend(markup: &mut Markup, (left, y): (f64, f64), samples: &[Sample<'_>]) -> f64 {
    let mut x = left;
    for (draw, words) in samples {
        draw(markup, (x + 8.0, y - 4.0));
        markup.element(
            "text",
            &[("class", &"small-text"), ("x", &Px(x + 22.0)), ("y", &Px(y))],
            words,
        );
        x += 22.0 + width_of(words) + 16.0;
    }
    x
}
