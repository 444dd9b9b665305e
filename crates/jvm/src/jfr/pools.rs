//! Constant pools of one chunk, merged over all its checkpoints.
//!
//! A checkpoint adds to the pools and never replaces one. Names are kept once in an arena; of
//! stack traces, which are most of a large recording, only the place is kept: those that an
//! event names are decoded later, once each. What nobody asks for is passed over.

use super::damage::{Damage, Read};
use super::input::{Input, Text};
use super::layout::{Layout, Step, Values};
use super::metadata::Metadata;
use super::names::FastMap;
use super::source::Window;

/// Most bytes of names that one chunk may bring; the rest stays unresolved.
const ARENA_BYTES_MAX: usize = 1 << 28;

/// A thread.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Its name: the Java name, else the system's.
    pub(crate) name: String,
    /// Id given by the JVM; 0 for a thread of the JVM itself.
    pub(crate) java_id: u64,
    /// No thread of the system carries it.
    pub(crate) is_virtual: bool,
}

/// A name of a class or method: in the pool of symbols, in that of texts, or inline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameOf {
    Symbol(u64),
    Text(u64),
    Inline(Span),
}

/// A part of the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Span {
    from: u32,
    bytes: u32,
}

/// Where a stack trace lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TracePlace {
    /// Offset in the file.
    pub(crate) offset: u64,
    /// Bytes after the id.
    pub(crate) bytes: u32,
}

/// An object that was still there: its class and who refers to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OldObject {
    pub(crate) class: u64,
    pub(crate) referrer: u64,
}

/// A reference: through a field or an array, from an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) array: u64,
    pub(crate) field: u64,
    pub(crate) object: u64,
    pub(crate) skipped: u64,
}

/// What a pool is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Symbol,
    Text,
    Class,
    Method,
    Thread,
    Trace,
    OldObject,
    Reference,
    FieldName,
    GcRoot,
    /// A word such as `G1New`; kept under the type's id.
    Word,
    /// Passed over.
    Other,
}

#[derive(Debug, Clone)]
struct PoolLayout {
    role: Role,
    layout: Layout,
}

/// The pools of one chunk.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    layouts: FastMap<u64, Option<PoolLayout>>,
    arena: Vec<u8>,
    symbols: FastMap<u64, Span>,
    texts: FastMap<u64, Span>,
    classes: FastMap<u64, NameOf>,
    methods: FastMap<u64, (u64, NameOf)>,
    threads: FastMap<u64, Thread>,
    words: FastMap<(u64, u64), Span>,
    pub(crate) traces: FastMap<u64, TracePlace>,
    pub(crate) objects: FastMap<u64, OldObject>,
    pub(crate) references: FastMap<u64, Reference>,
    field_names: FastMap<u64, Span>,
    roots: FastMap<u64, (u64, u64, u64, u64)>,
    /// Constants of types that the metadata do not describe.
    pub(crate) unknown_types: u64,
}

impl Pools {
    /// Reads what follows size and type of a checkpoint.
    pub(crate) fn read(&mut self, window: &mut Window<'_>, metadata: &Metadata) -> Read<()> {
        // Start, duration, distance to the checkpoint before.
        for _ in 0..3 {
            window.integer(8)?;
        }
        // What kind of checkpoint it is: flush, header, statics, threads.
        window.byte()?;
        let pools = window.integer(4)?;
        let mut values = Values::default();
        for _ in 0..pools {
            let id = window.integer(8)?;
            let count = window.count()?;
            let compressed = window.compressed();
            let made =
                self.layouts.entry(id).or_insert_with(|| pool_layout(metadata, id, compressed));
            let Some(layout) = made.clone() else {
                // Without the type's fields nobody knows where its constants end.
                self.unknown_types += 1;
                return Err(Damage::Bound);
            };
            match layout.role {
                Role::Trace => self.traces(window, &layout.layout, count, &mut values)?,
                role => {
                    for _ in 0..count {
                        let key = window.integer(8)?;
                        layout.layout.read(window, &mut values)?;
                        self.keep(role, id, key, &values, &layout.layout);
                    }
                }
            }
        }
        Ok(())
    }

    fn traces(
        &mut self,
        window: &mut Window<'_>,
        layout: &Layout,
        count: u64,
        values: &mut Values,
    ) -> Read<()> {
        for _ in 0..count {
            let key = window.integer(8)?;
            let offset = window.offset();
            layout.read(window, values)?;
            let bytes = u32::try_from(window.offset() - offset).map_err(|_| Damage::Bound)?;
            self.traces.insert(key, TracePlace { offset, bytes });
        }
        Ok(())
    }

    fn keep(&mut self, role: Role, of: u64, key: u64, values: &Values, layout: &Layout) {
        let number = |slot: usize| values.numbers[slot];
        match role {
            Role::Symbol => {
                if let Some(span) = self.inline(values.text(0)) {
                    self.symbols.insert(key, span);
                }
            }
            Role::Text => {
                if let Some(span) = self.inline(values.text(0)) {
                    self.texts.insert(key, span);
                }
            }
            Role::Word => {
                if let Some(span) = self.inline(values.text(0)) {
                    self.words.insert((of, key), span);
                }
            }
            Role::FieldName => {
                if let Some(span) = self.inline(values.text(0)) {
                    self.field_names.insert(key, span);
                }
            }
            Role::Class => {
                if let Some(name) = self.name_of(values, 0, layout) {
                    self.classes.insert(key, name);
                }
            }
            Role::Method => {
                if let Some(name) = self.name_of(values, 1, layout) {
                    self.methods.insert(key, (number(0), name));
                }
            }
            Role::Thread => {
                let text = |slot| match values.text(slot) {
                    Some(Text::Inline(text)) if !text.is_empty() => Some(text.clone()),
                    Some(Text::Pool(id)) => {
                        self.texts.get(id).map(|span| self.span(*span).to_owned())
                    }
                    _ => None,
                };
                let system_id = number(3);
                let java_id = number(2);
                let said = layout.kept[4].present && number(4) != 0;
                let thread = Thread {
                    name: text(0).or_else(|| text(1)).unwrap_or_default(),
                    java_id,
                    // Before the field `virtual`: a Java thread without one of the system.
                    is_virtual: said || (system_id == 0 && java_id != 0),
                };
                self.threads.insert(key, thread);
            }
            Role::OldObject => {
                self.objects.insert(key, OldObject { class: number(0), referrer: number(1) });
            }
            Role::Reference => {
                let reference = Reference {
                    array: number(0),
                    field: number(1),
                    object: number(2),
                    skipped: number(3),
                };
                self.references.insert(key, reference);
            }
            Role::GcRoot => {
                let root = (layout.kept[0].of, number(0), layout.kept[1].of, number(1));
                self.roots.insert(key, root);
            }
            Role::Trace | Role::Other => {}
        }
    }

    fn inline(&mut self, text: Option<&Text>) -> Option<Span> {
        let Some(Text::Inline(text)) = text else { return None };
        if self.arena.len() + text.len() > ARENA_BYTES_MAX {
            return None;
        }
        let span = Span { from: self.arena.len() as u32, bytes: text.len() as u32 };
        self.arena.extend_from_slice(text.as_bytes());
        Some(span)
    }

    fn name_of(&mut self, values: &Values, slot: usize, layout: &Layout) -> Option<NameOf> {
        if layout.kept[slot].pooled {
            return Some(NameOf::Symbol(values.numbers[slot]));
        }
        match values.text(slot)? {
            Text::Pool(id) => Some(NameOf::Text(*id)),
            text => self.inline(Some(text)).map(NameOf::Inline),
        }
    }

    fn span(&self, span: Span) -> &str {
        let from = span.from as usize;
        self.arena
            .get(from..from + span.bytes as usize)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    fn name(&self, name: NameOf) -> Option<&str> {
        match name {
            NameOf::Symbol(id) => {
                // A name may also be pooled as a text.
                self.symbols.get(&id).or_else(|| self.texts.get(&id)).map(|span| self.span(*span))
            }
            NameOf::Text(id) => self.text(id),
            NameOf::Inline(span) => Some(self.span(span)),
        }
    }

    /// A text of the pool of `java.lang.String`.
    pub(crate) fn text(&self, id: u64) -> Option<&str> {
        self.texts.get(&id).map(|span| self.span(*span))
    }

    /// The name of a class as the pool has it, with slashes.
    pub(crate) fn class(&self, id: u64) -> Option<&str> {
        self.name(*self.classes.get(&id)?)
    }

    /// Class and name of a method, the class with slashes.
    pub(crate) fn method(&self, id: u64) -> Option<(&str, &str)> {
        let (class, name) = *self.methods.get(&id)?;
        // Frames of native code have no class.
        let class = if class == 0 { "" } else { self.class(class)? };
        Some((class, self.name(name)?))
    }

    /// A thread.
    pub(crate) fn thread(&self, id: u64) -> Option<&Thread> {
        self.threads.get(&id)
    }

    /// A word of the pool of a type, such as `After GC`.
    pub(crate) fn word(&self, of: u64, id: u64) -> Option<&str> {
        self.words.get(&(of, id)).map(|span| self.span(*span))
    }

    /// The name of the field that a reference goes through.
    pub(crate) fn field_name(&self, id: u64) -> Option<&str> {
        self.field_names.get(&id).map(|span| self.span(*span))
    }

    /// Where the chain of an old object ends: the system, such as `Class Loader Data`, and the
    /// kind of root.
    pub(crate) fn root(&self, id: u64) -> Option<(&str, &str)> {
        let (system_of, system, kind_of, kind) = *self.roots.get(&id)?;
        Some((
            self.word(system_of, system).unwrap_or_default(),
            self.word(kind_of, kind).unwrap_or_default(),
        ))
    }
}

fn pool_layout(metadata: &Metadata, id: u64, compressed: bool) -> Option<PoolLayout> {
    let of = metadata.types.get(&id)?;
    let (role, wanted): (Role, &[&str]) = match of.name.as_str() {
        "jdk.types.Symbol" => (Role::Symbol, &["string"]),
        "java.lang.String" => (Role::Text, &[""]),
        "java.lang.Class" => (Role::Class, &["name"]),
        "jdk.types.Method" => (Role::Method, &["type", "name"]),
        "java.lang.Thread" => {
            (Role::Thread, &["javaName", "osName", "javaThreadId", "osThreadId", "virtual"])
        }
        "jdk.types.StackTrace" => (Role::Trace, &[]),
        "jdk.types.OldObject" => (Role::OldObject, &["type", "referrer"]),
        "jdk.types.Reference" => (Role::Reference, &["array", "field", "object", "skip"]),
        "jdk.types.OldObjectField" => (Role::FieldName, &["name"]),
        "jdk.types.OldObjectGcRoot" => (Role::GcRoot, &["system", "type"]),
        // Holds no name that a panel prints.
        "jdk.types.Module" | "jdk.types.ClassLoader" | "jdk.types.Package" => (Role::Other, &[]),
        _ => match of.fields.as_slice() {
            [field] if !field.pooled && !field.array && is_text(metadata, field.of) => {
                let layout = Layout::of(metadata, id, compressed, &[&field.name])?;
                return Some(PoolLayout { role: Role::Word, layout });
            }
            _ => (Role::Other, &[]),
        },
    };
    Some(PoolLayout { role, layout: Layout::of(metadata, id, compressed, wanted)? })
}

fn is_text(metadata: &Metadata, id: u64) -> bool {
    metadata.types.get(&id).is_some_and(|of| of.name == "java.lang.String")
}

/// How stack traces of a chunk lie in the bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct TraceLayout {
    /// Up to the frames; slot 0 says whether the trace was cut.
    head: Layout,
    /// One frame: method, line, kind.
    frame: Layout,
    compressed: bool,
    /// Places of method, line and kind among the integers of a frame, when a frame is nothing
    /// but compressed integers.
    flat: Option<Flat>,
}

#[derive(Debug, Clone, Copy)]
struct Flat {
    integers: usize,
    method: usize,
    line: usize,
    kind: usize,
}

/// A frame of a stack trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Id of the method.
    pub(crate) method: u64,
    /// Source line; 0 or below when unknown.
    pub(crate) line: i32,
    /// Id of the kind: interpreted, compiled, inlined, native.
    pub(crate) kind: u64,
}

impl TraceLayout {
    /// The layout of stack traces; `None` when the chunk describes none.
    pub(crate) fn of(metadata: &Metadata, compressed: bool) -> Option<Self> {
        let (_, trace) = metadata.types.iter().find(|(_, of)| of.name == "jdk.types.StackTrace")?;
        let frames = trace.fields.iter().position(|field| field.name == "frames" && field.array)?;
        let frame_of = trace.fields[frames].of;
        // A type that ends before the frames.
        let mut head_only = Metadata::default();
        let mut head_type = trace.clone();
        head_type.fields.truncate(frames);
        let filler = u64::MAX;
        for field in &head_type.fields {
            head_only.types.insert(field.of, metadata.types.get(&field.of)?.clone());
        }
        let head = if head_type.fields.is_empty() {
            Layout::default()
        } else {
            head_only.types.insert(filler, head_type);
            Layout::of(&head_only, filler, compressed, &["truncated"])?
        };
        let frame = if trace.fields[frames].pooled {
            return None;
        } else {
            Layout::of(metadata, frame_of, compressed, &["method", "lineNumber", "type"])?
        };
        let flat = if compressed { flat(&frame.steps) } else { None };
        Some(Self { head, frame, compressed, flat })
    }

    /// Decodes a trace: true when it was cut at the depth of the recording. `each` gets the
    /// frames from the leaf on and says false to stop.
    pub(crate) fn decode(
        &self,
        bytes: &[u8],
        values: &mut Values,
        mut each: impl FnMut(Frame) -> bool,
    ) -> Read<bool> {
        let mut input = super::input::Slice::new(bytes, self.compressed);
        self.head.read(&mut input, values)?;
        let truncated = self.head.kept[0].present && values.numbers[0] != 0;
        let count = input.count()?;
        if let Some(flat) = self.flat {
            for _ in 0..count {
                let mut frame = Frame { method: 0, line: 0, kind: 0 };
                for index in 0..flat.integers {
                    let value = input.leb128()?;
                    if index == flat.method {
                        frame.method = value;
                    } else if index == flat.line {
                        frame.line = value as i32;
                    } else if index == flat.kind {
                        frame.kind = value;
                    }
                }
                if !each(frame) {
                    break;
                }
            }
            return Ok(truncated);
        }
        for _ in 0..count {
            self.frame.read(&mut input, values)?;
            let [method, line, kind, ..] = values.numbers;
            if !each(Frame { method, line: line as i32, kind }) {
                break;
            }
        }
        Ok(truncated)
    }
}

fn flat(steps: &[Step]) -> Option<Flat> {
    let mut flat = Flat { integers: 0, method: usize::MAX, line: usize::MAX, kind: usize::MAX };
    for step in steps {
        match step {
            Step::PassIntegers(count) => flat.integers += *count as usize,
            Step::Integer { slot, .. } => {
                match slot {
                    0 => flat.method = flat.integers,
                    1 => flat.line = flat.integers,
                    _ => flat.kind = flat.integers,
                }
                flat.integers += 1;
            }
            _ => return None,
        }
    }
    Some(flat)
}
