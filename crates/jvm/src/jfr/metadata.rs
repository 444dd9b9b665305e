//! The metadata event of a chunk: its types with their fields and units.
//!
//! A table of texts, then a tree of elements whose names and attributes are numbers of texts:
//! `root` > `metadata` > `class` > `field` > `annotation`.

use super::damage::{Damage, Read};
use super::input::{Input, Text};
use super::names::FastMap;

/// Deepest tree that is followed; the JDK writes five levels.
const DEPTH_MAX: u32 = 32;
/// Most elements that are read; the JDK writes about 10,000.
const ELEMENTS_MAX: u32 = 1 << 20;

/// What a number of a field counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Unit {
    /// A plain number, or bytes.
    #[default]
    Plain,
    /// A span in ticks of the chunk.
    SpanTicks,
    /// A span in units of so many nanoseconds.
    SpanNs(u64),
    /// An instant in ticks of the chunk.
    InstantTicks,
    /// An instant in units of so many nanoseconds since the epoch.
    InstantNs(u64),
}

/// A field of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) of: u64,
    /// The value is an id of the pool of its type.
    pub(crate) pooled: bool,
    pub(crate) array: bool,
    pub(crate) unit: Unit,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) event: bool,
    pub(crate) fields: Vec<Field>,
}

/// Types of a chunk by id.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metadata {
    pub(crate) types: FastMap<u64, Type>,
}

#[derive(Debug)]
struct Element {
    name: u32,
    attributes: Vec<(u32, u32)>,
    children: Vec<Element>,
}

impl Metadata {
    /// Reads what follows size and type of a metadata event.
    pub(crate) fn read(input: &mut impl Input) -> Read<Self> {
        // Start, duration, id of the metadata.
        for _ in 0..3 {
            input.integer(8)?;
        }
        let count = input.count()?;
        let mut texts = Vec::with_capacity((count as usize).min(1 << 16));
        for _ in 0..count {
            texts.push(match input.text()? {
                Text::Inline(text) => text,
                Text::Null | Text::Pool(_) => String::new(),
            });
        }
        let mut budget = ELEMENTS_MAX;
        let root = element(input, texts.len(), 0, &mut budget)?;
        Ok(Self::of_tree(&root, &texts))
    }

    fn of_tree(root: &Element, texts: &[String]) -> Self {
        let named = |element: &Element, name: &str| texts[element.name as usize] == name;
        let mut names: FastMap<u64, &str> = FastMap::default();
        let mut classes = Vec::new();
        for metadata in root.children.iter().filter(|child| named(child, "metadata")) {
            for class in metadata.children.iter().filter(|child| named(child, "class")) {
                let Some(id) = number(class, "id", texts) else { continue };
                let name = attribute(class, "name", texts).unwrap_or_default();
                names.insert(id, name);
                classes.push((id, name, class));
            }
        }
        let mut types: FastMap<u64, Type> = FastMap::default();
        for (id, name, class) in classes {
            let fields = class.children.iter().filter(|child| named(child, "field"));
            let fields = fields
                .filter_map(|field| {
                    Some(Field {
                        name: attribute(field, "name", texts)?.to_owned(),
                        of: number(field, "class", texts)?,
                        pooled: attribute(field, "constantPool", texts) == Some("true"),
                        array: attribute(field, "dimension", texts)
                            .is_some_and(|dimension| dimension != "0"),
                        unit: unit(field, texts, &names),
                    })
                })
                .collect();
            let event = attribute(class, "superType", texts) == Some("jdk.jfr.Event");
            types.insert(id, Type { name: name.to_owned(), event, fields });
        }
        Self { types }
    }
}

fn element(input: &mut impl Input, texts: usize, depth: u32, budget: &mut u32) -> Read<Element> {
    if depth > DEPTH_MAX || *budget == 0 {
        return Err(Damage::Bound);
    }
    *budget -= 1;
    let text = |input: &mut _| -> Read<u32> {
        let number = Input::integer(input, 4)?;
        if number < texts as u64 { Ok(number as u32) } else { Err(Damage::Bound) }
    };
    let name = text(input)?;
    let count = input.count()?;
    let mut attributes = Vec::new();
    for _ in 0..count {
        attributes.push((text(input)?, text(input)?));
    }
    let count = input.count()?;
    let mut children = Vec::new();
    for _ in 0..count {
        children.push(element(input, texts, depth + 1, budget)?);
    }
    Ok(Element { name, attributes, children })
}

fn attribute<'t>(element: &Element, key: &str, texts: &'t [String]) -> Option<&'t str> {
    let found = element.attributes.iter().find(|(name, _)| texts[*name as usize] == key)?;
    Some(&texts[found.1 as usize])
}

fn number(element: &Element, key: &str, texts: &[String]) -> Option<u64> {
    attribute(element, key, texts)?.parse().ok()
}

/// The unit that annotations of a field name.
fn unit(field: &Element, texts: &[String], names: &FastMap<u64, &str>) -> Unit {
    for annotation in &field.children {
        let Some(class) = number(annotation, "class", texts) else { continue };
        let value = attribute(annotation, "value", texts)
            .or_else(|| attribute(annotation, "value-0", texts))
            .unwrap_or_default();
        let ns = match value {
            "NANOSECONDS" | "NANOSECONDS_SINCE_EPOCH" => 1,
            "MICROSECONDS" => 1_000,
            "MILLISECONDS" | "MILLISECONDS_SINCE_EPOCH" => 1_000_000,
            "SECONDS" | "SECONDS_SINCE_EPOCH" => 1_000_000_000,
            _ => 0,
        };
        match (names.get(&class).copied(), value) {
            (Some("jdk.jfr.Timestamp"), "TICKS") => return Unit::InstantTicks,
            (Some("jdk.jfr.Timespan"), "TICKS") => return Unit::SpanTicks,
            (Some("jdk.jfr.Timestamp"), _) if ns > 0 => return Unit::InstantNs(ns),
            // The annotation's own default is nanoseconds.
            (Some("jdk.jfr.Timespan"), _) => return Unit::SpanNs(ns.max(1)),
            _ => {}
        }
    }
    Unit::Plain
}
