//! A writer of small chunks, for what no fixture holds: uncompressed integers, ids that nothing
//! defines, pools over several checkpoints, other clocks.

/// Type ids of what [`Chunk::new`] describes.
pub(super) mod types {
    pub(crate) const LONG: u64 = 2;
    pub(crate) const SHORT: u64 = 3;
    pub(crate) const INT: u64 = 4;
    pub(crate) const BOOLEAN: u64 = 5;
    pub(crate) const STRING: u64 = 6;
    pub(crate) const SYMBOL: u64 = 7;
    pub(crate) const CLASS: u64 = 8;
    pub(crate) const METHOD: u64 = 9;
    pub(crate) const FRAME: u64 = 10;
    pub(crate) const TRACE: u64 = 11;
    pub(crate) const THREAD: u64 = 12;
    pub(crate) const SAMPLE: u64 = 13;
    pub(crate) const IN_TLAB: u64 = 14;
    pub(crate) const OUTSIDE_TLAB: u64 = 15;
    pub(crate) const PAUSE: u64 = 16;
    pub(crate) const TIMESTAMP: u64 = 17;
    pub(crate) const TIMESPAN: u64 = 18;
    pub(crate) const OTHER: u64 = 19;
    pub(crate) const FLOAT: u64 = 20;
    pub(crate) const EXECUTION: u64 = 21;
    pub(crate) const CPU_LOAD: u64 = 22;
    pub(crate) const CPU_INFORMATION: u64 = 23;
    pub(crate) const SETTING: u64 = 24;
    pub(crate) const GC_CPU: u64 = 25;
}
use types::*;

/// One chunk in the making.
pub(super) struct Chunk {
    compressed: bool,
    ticks_per_s: u64,
    start_ns: u64,
    duration_ns: u64,
    body: Vec<u8>,
}

/// A field: name, type, pooled, array, annotation.
type Field = (&'static str, u64, bool, bool, Option<(u64, &'static str)>);

/// Constants of one pool: ids and contents.
type Constants = Vec<(u64, Vec<u8>)>;

const START: Field = ("startTime", LONG, false, false, Some((TIMESTAMP, "TICKS")));

fn described() -> Vec<(u64, &'static str, bool, Vec<Field>)> {
    let plain = |name: &'static str, of: u64| -> Field { (name, of, false, false, None) };
    let pooled = |name: &'static str, of: u64| -> Field { (name, of, true, false, None) };
    let sample = |amounts: &[&'static str]| {
        let mut fields = vec![
            START,
            pooled("eventThread", THREAD),
            pooled("stackTrace", TRACE),
            pooled("objectClass", CLASS),
        ];
        fields.extend(amounts.iter().map(|name| plain(name, LONG)));
        fields
    };
    vec![
        (LONG, "long", false, vec![]),
        (SHORT, "short", false, vec![]),
        (INT, "int", false, vec![]),
        (BOOLEAN, "boolean", false, vec![]),
        (STRING, "java.lang.String", false, vec![]),
        (SYMBOL, "jdk.types.Symbol", false, vec![plain("string", STRING)]),
        (CLASS, "java.lang.Class", false, vec![pooled("name", SYMBOL)]),
        (METHOD, "jdk.types.Method", false, vec![pooled("type", CLASS), pooled("name", SYMBOL)]),
        (
            FRAME,
            "jdk.types.StackFrame",
            false,
            vec![pooled("method", METHOD), plain("lineNumber", INT)],
        ),
        (
            TRACE,
            "jdk.types.StackTrace",
            false,
            vec![plain("truncated", BOOLEAN), ("frames", FRAME, false, true, None)],
        ),
        (
            THREAD,
            "java.lang.Thread",
            false,
            vec![
                plain("osName", STRING),
                plain("osThreadId", LONG),
                plain("javaName", STRING),
                plain("javaThreadId", LONG),
            ],
        ),
        (SAMPLE, "jdk.ObjectAllocationSample", true, sample(&["weight"])),
        (IN_TLAB, "jdk.ObjectAllocationInNewTLAB", true, sample(&["allocationSize", "tlabSize"])),
        (OUTSIDE_TLAB, "jdk.ObjectAllocationOutsideTLAB", true, sample(&["allocationSize"])),
        (
            PAUSE,
            "jdk.GCPhasePause",
            true,
            vec![
                START,
                ("duration", LONG, false, false, Some((TIMESPAN, "TICKS"))),
                plain("gcId", INT),
                plain("name", STRING),
            ],
        ),
        (FLOAT, "float", false, vec![]),
        (
            EXECUTION,
            "jdk.ExecutionSample",
            true,
            vec![START, pooled("sampledThread", THREAD), pooled("stackTrace", TRACE)],
        ),
        (
            CPU_LOAD,
            "jdk.CPULoad",
            true,
            vec![START, plain("jvmUser", FLOAT), plain("jvmSystem", FLOAT)],
        ),
        (CPU_INFORMATION, "jdk.CPUInformation", true, vec![START, plain("hwThreads", INT)]),
        (
            SETTING,
            "jdk.ActiveSetting",
            true,
            vec![START, plain("id", LONG), plain("name", STRING), plain("value", STRING)],
        ),
        (
            GC_CPU,
            "jdk.GCCPUTime",
            true,
            vec![
                START,
                ("userTime", LONG, false, false, Some((TIMESPAN, "NANOSECONDS"))),
                ("systemTime", LONG, false, false, Some((TIMESPAN, "NANOSECONDS"))),
            ],
        ),
        (TIMESTAMP, "jdk.jfr.Timestamp", false, vec![]),
        (TIMESPAN, "jdk.jfr.Timespan", false, vec![]),
        // A type that no panel reads, with a field of a kind that once refused whole files.
        (
            OTHER,
            "org.acme.Event",
            true,
            vec![START, plain("modifiers", SHORT), plain("text", STRING)],
        ),
    ]
}

impl Chunk {
    pub(super) fn new(compressed: bool) -> Self {
        Self {
            compressed,
            ticks_per_s: 1_000_000_000,
            start_ns: 1_000,
            duration_ns: 1_000_000,
            body: Vec::new(),
        }
    }

    pub(super) fn clock(mut self, start_ns: u64, ticks_per_s: u64) -> Self {
        (self.start_ns, self.ticks_per_s) = (start_ns, ticks_per_s);
        self
    }

    pub(super) fn lasting(mut self, duration_ns: u64) -> Self {
        self.duration_ns = duration_ns;
        self
    }

    /// An integer of so many bytes when not compressed.
    pub(super) fn integer(&self, value: u64, bytes: usize) -> Vec<u8> {
        if !self.compressed {
            return value.to_be_bytes()[8 - bytes..].to_vec();
        }
        let (mut value, mut out) = (value, Vec::new());
        for _ in 0..8 {
            if value < 0x80 {
                out.push(value as u8);
                return out;
            }
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
        out
    }

    pub(super) fn text(&self, text: &str) -> Vec<u8> {
        let mut out = vec![3];
        out.extend(self.integer(text.len() as u64, 4));
        out.extend(text.as_bytes());
        out
    }

    fn longs(&self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| self.integer(*value, 8)).collect()
    }

    fn framed(&self, kind: u64, content: &[u8]) -> Vec<u8> {
        let kind = self.integer(kind, 8);
        for width in 1..=4 {
            let size = kind.len() + content.len() + if self.compressed { width } else { 4 };
            let head = self.integer(size as u64, 4);
            if !self.compressed || head.len() == width {
                return [head, kind, content.to_vec()].concat();
            }
        }
        unreachable!("a test's event is small")
    }

    /// An event: its fields one after the other.
    pub(super) fn event(&mut self, kind: u64, content: &[u8]) {
        let framed = self.framed(kind, content);
        self.body.extend(framed);
    }

    /// An allocation: thread, stack, class, amounts.
    pub(super) fn allocation(&mut self, kind: u64, at: u64, ids: [u64; 3], amounts: &[u64]) {
        let content = [self.longs(&[at]), self.longs(&ids), self.longs(amounts)].concat();
        self.event(kind, &content);
    }

    pub(super) fn pause(&mut self, at: u64, ticks: u64) {
        let content =
            [self.longs(&[at, ticks]), self.integer(1, 4), self.text("GC Pause")].concat();
        self.event(PAUSE, &content);
    }

    /// Samples of a running thread, one each tick.
    pub(super) fn executions(&mut self, thread: u64, stack: u64, count: u64) {
        for at in 0..count {
            let content = self.longs(&[200 + at, thread, stack]);
            self.event(EXECUTION, &content);
        }
    }

    /// The load of the process by user and system, of all processors.
    pub(super) fn cpu(&mut self, processors: u64, load: [f32; 2]) {
        let content = [self.longs(&[150]), self.integer(processors, 4)].concat();
        self.event(CPU_INFORMATION, &content);
        let mut content = self.longs(&[150]);
        content.extend(load.iter().flat_map(|part| part.to_be_bytes()));
        self.event(CPU_LOAD, &content);
    }

    /// A setting of an event type.
    pub(super) fn setting(&mut self, of: u64, name: &str, value: &str) {
        let content = [self.longs(&[120, of]), self.text(name), self.text(value)].concat();
        self.event(SETTING, &content);
    }

    /// CPU time of the collector, ns.
    pub(super) fn gc_cpu(&mut self, user_ns: u64, system_ns: u64) {
        let content = self.longs(&[200, user_ns, system_ns]);
        self.event(GC_CPU, &content);
    }

    /// A thread with a name.
    pub(super) fn thread(&mut self, id: u64, name: &str) {
        let content =
            [self.text(name), self.integer(id, 8), self.text(name), self.integer(id, 8)].concat();
        self.checkpoint(&[(THREAD, vec![(id, content)])]);
    }

    /// A stack of several frames, the leaf first; its methods have ids from `id * 1,000` on.
    pub(super) fn stack(&mut self, id: u64, frames: &[(&str, &str)]) {
        let mut trace = [vec![0], self.integer(frames.len() as u64, 4)].concat();
        let (mut symbols, mut classes, mut methods) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (class, method)) in frames.iter().enumerate() {
            let own = id * 1_000 + at as u64;
            symbols.push((own, self.text(class)));
            symbols.push((own + 500, self.text(method)));
            classes.push((own, self.integer(own, 8)));
            methods.push((own, self.longs(&[own, own + 500])));
            trace.extend([self.integer(own, 8), self.integer(7, 4)].concat());
        }
        let traces = vec![(id, trace)];
        self.checkpoint(&[(SYMBOL, symbols), (CLASS, classes), (METHOD, methods), (TRACE, traces)]);
    }

    /// A checkpoint: pools by type, each with ids and contents.
    pub(super) fn checkpoint(&mut self, pools: &[(u64, Constants)]) {
        let mut content = self.longs(&[0, 0, 0]);
        content.push(0);
        content.extend(self.integer(pools.len() as u64, 4));
        for (kind, constants) in pools {
            content.extend(self.integer(*kind, 8));
            content.extend(self.integer(constants.len() as u64, 4));
            for (id, constant) in constants {
                content.extend(self.integer(*id, 8));
                content.extend(constant);
            }
        }
        self.event(1, &content);
    }

    /// Symbol, class, method and a stack of it, all under one id.
    pub(super) fn named(&mut self, id: u64, class: &str, method: &str) {
        let symbol = |text: &str| self.text(text);
        let trace = [vec![0], self.integer(1, 4), self.integer(id, 8), self.integer(7, 4)].concat();
        let pools = [
            (SYMBOL, vec![(id, symbol(class)), (id + 1_000, symbol(method))]),
            (CLASS, vec![(id, self.integer(id, 8))]),
            (METHOD, vec![(id, self.longs(&[id, id + 1_000]))]),
            (TRACE, vec![(id, trace)]),
        ];
        self.checkpoint(&pools);
    }

    /// The chunk's bytes, its metadata last.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let mut texts: Vec<String> = Vec::new();
        let mut number = |text: &str| -> u64 {
            let at = texts.iter().position(|known| known == text).unwrap_or_else(|| {
                texts.push(text.to_owned());
                texts.len() - 1
            });
            at as u64
        };
        // (name, attributes, children) as numbers, written in one go.
        let mut tree: Vec<u64> = Vec::new();
        let mut open =
            |tree: &mut Vec<u64>, name: &str, attributes: &[(&str, String)], children: usize| {
                tree.push(number(name));
                tree.push(attributes.len() as u64);
                for (key, value) in attributes {
                    tree.push(number(key));
                    tree.push(number(value));
                }
                tree.push(children as u64);
            };
        let described = described();
        open(&mut tree, "root", &[], 1);
        open(&mut tree, "metadata", &[], described.len());
        for (id, name, event, fields) in &described {
            let mut attributes = vec![("id", id.to_string()), ("name", (*name).to_owned())];
            if *event {
                attributes.push(("superType", "jdk.jfr.Event".to_owned()));
            }
            open(&mut tree, "class", &attributes, fields.len());
            for (name, of, pooled, array, annotation) in fields {
                let mut attributes = vec![("name", (*name).to_owned()), ("class", of.to_string())];
                if *pooled {
                    attributes.push(("constantPool", "true".to_owned()));
                }
                if *array {
                    attributes.push(("dimension", "1".to_owned()));
                }
                open(&mut tree, "field", &attributes, usize::from(annotation.is_some()));
                if let Some((class, value)) = annotation {
                    let attributes = [("class", class.to_string()), ("value", (*value).to_owned())];
                    open(&mut tree, "annotation", &attributes, 0);
                }
            }
        }
        let mut content = self.longs(&[0, 0, 1]);
        content.extend(self.integer(texts.len() as u64, 4));
        for text in &texts {
            content.extend(self.text(text));
        }
        for number in tree {
            content.extend(self.integer(number, 4));
        }
        let metadata_offset = 68 + self.body.len() as u64;
        self.event(0, &content);
        let size = 68 + self.body.len() as u64;
        let mut bytes = b"FLR\0".to_vec();
        bytes.extend([0, 2, 0, 1]);
        let header =
            [size, 0, metadata_offset, self.start_ns, self.duration_ns, 100, self.ticks_per_s];
        bytes.extend(header.iter().flat_map(|value| value.to_be_bytes()));
        bytes.extend([0, 0, 0, u8::from(self.compressed)]);
        bytes.extend(self.body);
        bytes
    }
}
