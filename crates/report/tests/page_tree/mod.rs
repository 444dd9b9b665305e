//! A small strict reader of the page, written for the tests alone: it takes only what is
//! well-formed, and knows nothing of the writer.

use std::collections::BTreeMap;

/// An element with its attributes and what is inside.
#[derive(Debug, Default)]
pub(crate) struct Element {
    /// Name.
    pub(crate) name: String,
    /// Attributes, unescaped.
    pub(crate) attributes: BTreeMap<String, String>,
    /// Elements inside.
    pub(crate) children: Vec<Element>,
    /// All text inside it at any depth, in its order, unescaped.
    pub(crate) text: String,
}

/// A whole page.
#[derive(Debug)]
pub(crate) struct Tree {
    /// `html`.
    pub(crate) root: Element,
}

impl Tree {
    /// Reads a page.
    ///
    /// # Panics
    /// Where it is not well-formed, with the place.
    pub(crate) fn parse(html: &str) -> Self {
        let body = html.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
        let mut reader = Reader { rest: body };
        let root = reader.element();
        assert_eq!(reader.rest.trim(), "", "something follows the root");
        Self { root }
    }

    /// Every element, in the order of the page.
    pub(crate) fn all(&self) -> Vec<&Element> {
        self.root.everything()
    }

    /// Every element of a name.
    pub(crate) fn named(&self, name: &str) -> Vec<&Element> {
        self.all().into_iter().filter(|element| element.name == name).collect()
    }

    /// The element with an identifier.
    pub(crate) fn id(&self, id: &str) -> Option<&Element> {
        self.all().into_iter().find(|element| element.attribute("id") == Some(id))
    }
}

impl Element {
    /// An attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Elements of a name inside it, at any depth.
    pub(crate) fn named(&self, name: &str) -> Vec<&Element> {
        self.everything().into_iter().filter(|element| element.name == name).collect()
    }

    /// It and every element inside it, at any depth.
    pub(crate) fn everything(&self) -> Vec<&Element> {
        let mut all = Vec::new();
        self.collect(&mut all);
        all
    }

    fn collect<'a>(&'a self, all: &mut Vec<&'a Element>) {
        all.push(self);
        for child in &self.children {
            child.collect(all);
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn here(&self) -> String {
        self.rest.chars().take(60).collect()
    }

    fn take(&mut self, expected: &str) {
        match self.rest.strip_prefix(expected) {
            Some(rest) => self.rest = rest,
            None => panic!("expected `{expected}` at `{}`", self.here()),
        }
    }

    fn name(&mut self) -> String {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let end = end.unwrap_or_else(|| panic!("a name without end at `{}`", self.here()));
        assert!(end > 0, "no name at `{}`", self.here());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    fn element(&mut self) -> Element {
        self.take("<");
        let mut element = Element { name: self.name(), ..Element::default() };
        loop {
            if let Some(rest) = self.rest.strip_prefix("/>") {
                self.rest = rest;
                return element;
            }
            if let Some(rest) = self.rest.strip_prefix('>') {
                self.rest = rest;
                break;
            }
            self.take(" ");
            let name = self.name();
            self.take("=\"");
            let end = self.rest.find('"').expect("a value ends");
            let value = unescaped(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            assert!(element.attributes.insert(name.clone(), value).is_none(), "{name} twice");
        }
        loop {
            let end = self.rest.find('<').unwrap_or_else(|| panic!("`{}` is open", element.name));
            element.text.push_str(&unescaped(&self.rest[..end]));
            self.rest = &self.rest[end..];
            if self.rest.starts_with("</") {
                self.take("</");
                self.take(&element.name);
                self.take(">");
                return element;
            }
            let child = self.element();
            element.text.push_str(&child.text);
            element.children.push(child);
        }
    }
}

fn unescaped(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        result.push_str(&rest[..at]);
        let end = rest[at..].find(';').unwrap_or_else(|| panic!("a bare `&` in `{text}`")) + at;
        result.push(match &rest[at..=end] {
            "&amp;" => '&',
            "&lt;" => '<',
            "&gt;" => '>',
            "&quot;" => '"',
            "&#39;" => '\'',
            other => panic!("unknown entity {other}"),
        });
        rest = &rest[end + 1..];
    }
    assert!(!rest.contains('>'), "a bare `>` in `{text}`");
    result + rest
}
