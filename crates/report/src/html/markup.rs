//! A writer of markup that is HTML and well-formed XML at once: every element is closed, every
//! attribute quoted, every text escaped.
//!
//! Names of elements and attributes are constants of this crate; text and values always pass
//! [`escape`], so that no label, cell, note or failure text can become markup. Raw text is the
//! style sheet alone, a constant.

use std::fmt::{self, Display, Write};

/// An attribute: its name and its value before escaping.
pub(crate) type Attribute<'a> = (&'static str, &'a dyn Display);

/// A document or a part of one in the making.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    text: String,
    open: Vec<&'static str>,
}

impl Markup {
    /// Opens an element.
    pub(crate) fn open(&mut self, name: &'static str, attributes: &[Attribute<'_>]) -> &mut Self {
        self.tag(name, attributes);
        self.text.push('>');
        if is_block(name) {
            self.text.push('\n');
        }
        self.open.push(name);
        self
    }

    /// Closes the innermost open element.
    ///
    /// # Panics
    /// When none is open, which is a bug of the caller.
    pub(crate) fn close(&mut self) -> &mut Self {
        let name = self.open.pop().expect("an element is open where one is closed");
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push('>');
        if is_block(name) || ENDS_LINE.contains(&name) {
            self.text.push('\n');
        }
        self
    }

    /// An element without content, `<meta .../>`.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: &[Attribute<'_>]) -> &mut Self {
        self.tag(name, attributes);
        self.text.push_str("/>\n");
        self
    }

    /// Text inside the innermost open element.
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        escape(text, &mut self.text);
        self
    }

    /// An element with text only.
    pub(crate) fn element(
        &mut self,
        name: &'static str,
        attributes: &[Attribute<'_>],
        text: &str,
    ) -> &mut Self {
        self.open(name, attributes).text(text).close()
    }

    /// The style sheet: a constant of this crate, the only text that is not escaped, since a
    /// browser does not unescape it. It holds nothing that could end it.
    pub(crate) fn style(&mut self, sheet: &'static str) -> &mut Self {
        assert!(!sheet.contains(['<', '&']), "a sheet is no markup");
        self.text.push_str("<style>");
        self.text.push_str(sheet);
        self.text.push_str("</style>\n");
        self
    }

    /// What was written.
    ///
    /// # Panics
    /// When an element is still open, which is a bug of the caller.
    pub(crate) fn finish(self) -> String {
        assert!(self.open.is_empty(), "elements left open: {:?}", self.open);
        self.text
    }

    fn tag(&mut self, name: &'static str, attributes: &[Attribute<'_>]) {
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in attributes {
            self.text.push(' ');
            self.text.push_str(attribute);
            self.text.push_str("=\"");
            escape(&value.to_string(), &mut self.text);
            self.text.push('"');
        }
    }
}

/// Elements that stand on lines of their own.
const BLOCKS: [&str; 24] = [
    "html",
    "head",
    "body",
    "header",
    "main",
    "section",
    "nav",
    "figure",
    "div",
    "dl",
    "ul",
    "ol",
    "table",
    "thead",
    "tbody",
    "tr",
    "details",
    "svg",
    "defs",
    "g",
    "pattern",
    "footer",
    "caption",
    "figcaption",
];

/// Elements after which a line ends.
const ENDS_LINE: [&str; 13] =
    ["title", "desc", "h1", "h2", "h3", "p", "li", "dt", "dd", "td", "th", "text", "summary"];

fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

/// Appends `text` so that it stays text in content and in a quoted attribute. What no markup may
/// hold, and what would turn the direction of the text around it, becomes U+FFFD.
fn escape(text: &str, into: &mut String) {
    for c in text.chars() {
        match c {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\n' | '\t' => into.push(c),
            c if c.is_control() || is_directional(c) || is_forbidden(c) => into.push('\u{fffd}'),
            c => into.push(c),
        }
    }
}

/// Characters that embed, override or isolate a direction.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Characters that XML 1.0 leaves out beside the controls.
fn is_forbidden(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// A coordinate or length in pixels, to a tenth.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round();
        assert!(tenths.is_finite(), "a coordinate is finite: scales are clamped");
        // Adding zero turns -0 into 0.
        let value = tenths / 10.0 + 0.0;
        if value.fract() == 0.0 { write!(f, "{value:.0}") } else { write!(f, "{value:.1}") }
    }
}

/// The path through `points` as an SVG path; a gap begins a new stroke.
pub(crate) fn path(points: &[Option<(f64, f64)>]) -> String {
    let mut text = String::new();
    let mut pen_down = false;
    for point in points {
        let Some((x, y)) = point else {
            pen_down = false;
            continue;
        };
        let verb = if pen_down { 'L' } else { 'M' };
        write!(text, "{verb}{} {}", Px(*x), Px(*y)).expect("a String takes all text");
        pen_down = true;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str) -> String {
        let mut into = String::new();
        escape(text, &mut into);
        into
    }

    #[test]
    fn foreign_text_stays_text() {
        insta::assert_snapshot!(
            escaped("<b onclick='x' & \"y\">\u{0}\u{1b}\u{202e}"),
            @"&lt;b onclick=&#39;x&#39; &amp; &quot;y&quot;&gt;���"
        );
        let mut markup = Markup::default();
        markup.element("p", &[("title", &"a\"><script>")], "</p><script>");
        assert_eq!(
            markup.finish(),
            "<p title=\"a&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;script&gt;</p>\n"
        );
    }

    proptest! {
        #[test]
        fn nothing_that_opens_markup_or_ends_a_value_survives(text in any::<String>()) {
            let safe = escaped(&text);
            prop_assert!(!safe.contains(['<', '>', '"', '\'']));
            for (place, _) in safe.match_indices('&') {
                let rest = &safe[place..];
                let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
                prop_assert!(known.iter().any(|entity| rest.starts_with(entity)));
            }
        }
    }

    #[test]
    fn pixels_are_short_and_have_no_negative_zero() {
        let shown: Vec<String> =
            [0.0, -0.04, 12.0, 12.34, -7.96].iter().map(|v| Px(*v).to_string()).collect();
        assert_eq!(shown, ["0", "0", "12", "12.3", "-8"]);
    }

    #[test]
    fn a_gap_lifts_the_pen() {
        let points = [Some((0.0, 1.0)), Some((2.0, 3.0)), None, Some((4.0, 5.0))];
        assert_eq!(path(&points), "M0 1L2 3M4 5");
    }

    #[test]
    #[should_panic(expected = "elements left open: [\"p\"]")]
    fn an_open_element_is_a_bug() {
        let mut markup = Markup::default();
        markup.open("p", &[]);
        markup.finish();
    }
}
