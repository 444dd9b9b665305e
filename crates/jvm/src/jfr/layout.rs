//! How values of a type lie in the bytes: steps made once per chunk from its metadata.
//!
//! Fields are found by name, so that a field added, moved or widened by another JDK changes
//! nothing. What nobody asked for is passed over without being decoded.

use super::damage::Read;
use super::input::{Input, Text};
use super::metadata::{Metadata, Unit};

/// Most fields that one event or constant gives.
pub(crate) const SLOTS: usize = 16;
/// Where a number that nobody asked for is put.
const SINK: usize = SLOTS;
/// Most steps of one type, inlined types counted; the JDK's largest has about 60.
const STEPS_MAX: usize = 2_048;
/// Deepest nesting of inlined types.
const NESTING_MAX: u32 = 8;

/// One step through the bytes of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Pass over LEB128 integers.
    PassIntegers(u32),
    /// Pass over bytes.
    PassBytes(u32),
    /// Pass over a text.
    PassText,
    /// A count, then so many times these steps.
    Repeat(Vec<Step>),
    /// Keep an integer of so many bytes when not compressed; signed ones are widened.
    Integer { slot: u8, bytes: u8, signed: bool },
    /// Keep bytes as they are: a boolean, a byte, the bits of a float or double.
    Bits { slot: u8, bytes: u8 },
    /// Keep a text.
    Text { slot: u8 },
}

/// Values of one event or constant.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    /// The last one is where unwanted numbers go.
    pub(crate) numbers: [u64; SLOTS + 1],
    pub(crate) texts: Vec<(u8, Text)>,
}

impl Values {
    /// The text of a slot.
    pub(crate) fn text(&self, slot: usize) -> Option<&Text> {
        self.texts.iter().find(|(of, _)| usize::from(*of) == slot).map(|(_, text)| text)
    }
}

/// What is known of a kept field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kept {
    /// The type has the field.
    pub(crate) present: bool,
    /// Id of the field's type.
    pub(crate) of: u64,
    /// The value is an id of that type's pool.
    pub(crate) pooled: bool,
    /// The value is the bits of a 4-byte float.
    pub(crate) float: bool,
    pub(crate) unit: Unit,
}

/// The steps through a type, keeping some fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    pub(crate) steps: Vec<Step>,
    pub(crate) kept: [Kept; SLOTS],
    /// Slots in order, when a value is nothing but compressed unsigned integers: most events
    /// that there are many of.
    flat: Option<Vec<u8>>,
}

impl Layout {
    /// The layout of a type; `None` when its metadata are incomplete or beyond the bounds.
    /// `wanted` are paths such as `heapSpace.committedSize`; slot i holds the i-th.
    pub(crate) fn of(
        metadata: &Metadata,
        id: u64,
        compressed: bool,
        wanted: &[&str],
    ) -> Option<Self> {
        assert!(wanted.len() <= SLOTS, "{} fields wanted of one type", wanted.len());
        let mut layout = Self::default();
        let mut maker = Maker { metadata, compressed, wanted, count: 0 };
        if metadata.types.get(&id)?.fields.is_empty() {
            // A pool of a primitive type, such as that of texts.
            let slot = (!wanted.is_empty()).then_some(0);
            maker.value(id, false, slot, "", 0, &mut layout.steps, &mut layout.kept)?;
        } else {
            maker.fields(id, "", 0, &mut layout.steps, &mut layout.kept)?;
        }
        layout.flat = if compressed { flat(&layout.steps) } else { None };
        Some(layout)
    }

    /// Reads one value.
    #[inline]
    pub(crate) fn read(&self, input: &mut impl Input, values: &mut Values) -> Read<()> {
        if let Some(flat) = &self.flat {
            for slot in flat {
                values.numbers[usize::from(*slot)] = input.leb128()?;
            }
            return Ok(());
        }
        values.texts.clear();
        run(&self.steps, input, values)
    }
}

/// The slots of a run of integers; `None` when there is anything else.
fn flat(steps: &[Step]) -> Option<Vec<u8>> {
    let mut slots = Vec::new();
    for step in steps {
        match step {
            Step::PassIntegers(count) => slots.extend((0..*count).map(|_| SINK as u8)),
            Step::Integer { slot, signed: false, .. } => slots.push(*slot),
            _ => return None,
        }
    }
    Some(slots)
}

/// Follows steps.
pub(crate) fn run(steps: &[Step], input: &mut impl Input, values: &mut Values) -> Read<()> {
    for step in steps {
        match step {
            Step::PassIntegers(count) => input.skip_leb128(u64::from(*count))?,
            Step::PassBytes(bytes) => input.skip(u64::from(*bytes))?,
            Step::PassText => input.skip_text()?,
            Step::Repeat(steps) => {
                let count = input.count()?;
                if let [Step::PassIntegers(each)] = steps.as_slice() {
                    input.skip_leb128(count.saturating_mul(u64::from(*each)))?;
                } else if let [Step::PassBytes(each)] = steps.as_slice() {
                    input.skip(count.saturating_mul(u64::from(*each)))?;
                } else if !steps.is_empty() {
                    for _ in 0..count {
                        run(steps, input, values)?;
                    }
                }
            }
            Step::Integer { slot, bytes, signed } => {
                let value = input.integer(u32::from(*bytes))?;
                let unused = 64 - 8 * u32::from(*bytes);
                values.numbers[usize::from(*slot)] =
                    if *signed { ((value << unused) as i64 >> unused) as u64 } else { value };
            }
            Step::Bits { slot, bytes } => {
                values.numbers[usize::from(*slot)] = input.big_endian(u32::from(*bytes))?;
            }
            Step::Text { slot } => {
                let text = input.text()?;
                values.texts.push((*slot, text));
            }
        }
    }
    Ok(())
}

struct Maker<'m> {
    metadata: &'m Metadata,
    compressed: bool,
    wanted: &'m [&'m str],
    count: usize,
}

impl Maker<'_> {
    fn fields(
        &mut self,
        id: u64,
        prefix: &str,
        nesting: u32,
        steps: &mut Vec<Step>,
        kept: &mut [Kept; SLOTS],
    ) -> Option<()> {
        if nesting > NESTING_MAX {
            return None;
        }
        let metadata = self.metadata;
        for field in &metadata.types.get(&id)?.fields {
            let path = format!("{prefix}{}", field.name);
            let slot = self.wanted.iter().position(|wanted| *wanted == path);
            if field.array {
                let mut each = Vec::new();
                // Elements of an array are passed over: a slot has room for one value.
                self.value(field.of, field.pooled, None, "\0", nesting, &mut each, kept)?;
                self.push(steps, Step::Repeat(each))?;
                continue;
            }
            if let Some(slot) = slot {
                kept[slot] = Kept {
                    present: true,
                    of: field.of,
                    pooled: field.pooled,
                    float: metadata.types.get(&field.of).is_some_and(|of| of.name == "float"),
                    unit: field.unit,
                };
            }
            self.value(field.of, field.pooled, slot, &path, nesting, steps, kept)?;
        }
        Some(())
    }

    #[expect(clippy::too_many_arguments, reason = "one place of a recursion over a type")]
    fn value(
        &mut self,
        of: u64,
        pooled: bool,
        slot: Option<usize>,
        path: &str,
        nesting: u32,
        steps: &mut Vec<Step>,
        kept: &mut [Kept; SLOTS],
    ) -> Option<()> {
        if pooled {
            return self.integer(steps, slot, 8, false);
        }
        let name = self.metadata.types.get(&of)?.name.as_str();
        match name {
            "boolean" | "byte" => self.bits(steps, slot, 1),
            "float" => self.bits(steps, slot, 4),
            "double" => self.bits(steps, slot, 8),
            "char" => self.integer(steps, slot, 2, false),
            "short" => self.integer(steps, slot, 2, true),
            "int" => self.integer(steps, slot, 4, true),
            "long" => self.integer(steps, slot, 8, false),
            "java.lang.String" => match slot {
                Some(slot) => self.push(steps, Step::Text { slot: slot as u8 }),
                None => self.push(steps, Step::PassText),
            },
            _ => self.fields(of, &format!("{path}."), nesting + 1, steps, kept),
        }
    }

    fn integer(
        &mut self,
        steps: &mut Vec<Step>,
        slot: Option<usize>,
        bytes: u8,
        signed: bool,
    ) -> Option<()> {
        match (slot, self.compressed, steps.last_mut()) {
            (Some(slot), _, _) => {
                self.push(steps, Step::Integer { slot: slot as u8, bytes, signed })
            }
            (None, true, Some(Step::PassIntegers(count))) => {
                *count = count.checked_add(1)?;
                self.counted()
            }
            (None, true, _) => self.push(steps, Step::PassIntegers(1)),
            (None, false, _) => self.pass_bytes(steps, u32::from(bytes)),
        }
    }

    fn bits(&mut self, steps: &mut Vec<Step>, slot: Option<usize>, bytes: u8) -> Option<()> {
        match slot {
            Some(slot) => self.push(steps, Step::Bits { slot: slot as u8, bytes }),
            None => self.pass_bytes(steps, u32::from(bytes)),
        }
    }

    fn pass_bytes(&mut self, steps: &mut Vec<Step>, bytes: u32) -> Option<()> {
        if let Some(Step::PassBytes(count)) = steps.last_mut() {
            *count = count.checked_add(bytes)?;
            return self.counted();
        }
        self.push(steps, Step::PassBytes(bytes))
    }

    fn push(&mut self, steps: &mut Vec<Step>, step: Step) -> Option<()> {
        steps.push(step);
        self.counted()
    }

    fn counted(&mut self) -> Option<()> {
        self.count += 1;
        (self.count <= STEPS_MAX).then_some(())
    }
}
