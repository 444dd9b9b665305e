//! Stacks of one chunk made names: leaf, site of own code, packages, callers.
//!
//! A site is the deepest frame of own code with its line; where no frame is, or no package was
//! named, the deepest frame. A method counts once per sample however often it stands in a
//! stack, so recursion never exceeds the whole.

use crate::jfr::damage::Read;
use crate::jfr::layout::Values;
use crate::jfr::names::FastMap;
use crate::jfr::pools::Frame;
use crate::jfr::scan::Scanned;
use crate::jfr::source::Window;

use record::thread_name::without_addresses;

use super::Question;
use super::collect::trace_bytes;
use super::events::Stacked;
use super::totals::{Tally, Totals};

/// An event without a stack.
pub(super) const NO_STACK: &str = "(no stack trace)";
/// A stack without a frame of own code.
pub(super) const NOT_OWN: &str = "(no frame of the package)";
/// A method, class or thread that no pool defines.
const UNRESOLVED: &str = "(unresolved)";
/// No class, or no package.
const NONE: &str = "(none)";
/// All virtual threads: their names are empty, their system ids 0.
pub(super) const VIRTUAL: &str = "(virtual)";
/// Longest chain of references that is followed.
const CHAIN_MAX: usize = 128;
/// References at either end of a longer chain that are printed.
const CHAIN_SHOWN: usize = 12;

/// A method of the chunk.
#[derive(Debug, Clone, Copy)]
struct Method {
    name: u32,
    package: u32,
    own: bool,
    warm_up: bool,
    asked: bool,
}

/// What one stack says.
#[derive(Debug, Default)]
struct Stack {
    leaf: Option<Method>,
    own: Option<(Method, i32)>,
    truncated: bool,
    warm_up: bool,
    methods: Vec<u32>,
    packages: Vec<u32>,
    /// Names from the asked frame on.
    asked: Vec<u32>,
    /// Names from the leaf on, when stacks are kept.
    all: Vec<u32>,
}

/// Resolves the stacks of one chunk.
pub(super) struct Sites<'c> {
    scanned: &'c Scanned,
    question: &'c Question,
    methods: FastMap<u64, Method>,
    lines: FastMap<(u32, i32), u32>,
    values: Values,
    stack: Stack,
    /// Kind of pool and id.
    missing: FastMap<(u8, u64), ()>,
}

impl<'c> Sites<'c> {
    pub(super) fn new(scanned: &'c Scanned, question: &'c Question) -> Self {
        Self {
            scanned,
            question,
            methods: FastMap::default(),
            lines: FastMap::default(),
            values: Values::default(),
            stack: Stack::default(),
            missing: FastMap::default(),
        }
    }

    /// Distinct ids that events name and no pool defines.
    pub(super) fn unresolved(&self) -> u64 {
        self.missing.len() as u64
    }

    /// Adds cells of one stack.
    pub(super) fn add(
        &mut self,
        kind: usize,
        cells: &[(u64, u64, u64, Tally)],
        window: &mut Window<'_>,
        totals: &mut Totals,
    ) {
        let running = kind == Stacked::Execution as usize || kind == Stacked::CpuTime as usize;
        let mut all = Tally::default();
        for (_, _, _, tally) in cells {
            all.add(tally);
        }
        let trace = cells.first().map_or(0, |cell| cell.1);
        let wholly = running || self.question.whole || self.question.asked.is_some();
        let there = self.decode(trace, wholly, window, totals);
        let site = self.site(there, totals);
        let by = &mut totals.stacked[kind];
        by.all.add(&all);
        by.sites.entry(site).or_default().add(&all);
        by.truncated += if self.stack.truncated { all.count } else { 0 };
        by.without_stack += if there { 0 } else { all.count };
        if let Some(leaf) = self.stack.leaf {
            by.leaves.entry(leaf.name).or_default().add(&all);
            by.leaf_packages.entry(leaf.package).or_default().add(&all);
        } else {
            by.leaves.entry(site_of_none(&mut totals.names)).or_default().add(&all);
        }
        if running || self.question.whole {
            for method in &self.stack.methods {
                by.inclusive.entry(*method).or_default().add(&all);
            }
        }
        if running {
            for package in &self.stack.packages {
                by.packages.entry(*package).or_default().add(&all);
            }
            if let Some((own, _)) = self.stack.own {
                by.own.entry(own.name).or_default().add(&all);
            }
        }
        let asked = self.question.asked.is_some() && !self.stack.asked.is_empty();
        if asked {
            let chain: Vec<&str> =
                self.stack.asked.iter().map(|name| totals.names.name(*name)).collect();
            let chain = chain.join(" <- ");
            let chain = totals.names.number(&chain);
            let by = &mut totals.stacked[kind];
            by.asked.add(&all);
            by.callers.entry(chain).or_default().add(&all);
        }
        for (_, _, other, tally) in cells {
            let compiler;
            let name = if running || kind == Stacked::Native as usize {
                let (name, is_virtual, is_compiler) = self.thread(*other);
                compiler = is_compiler;
                let name = totals.names.number(&name);
                totals.stacked[kind].of_virtual += if is_virtual { tally.count } else { 0 };
                name
            } else {
                compiler = false;
                let name = self.class(*other);
                totals.names.number(&name)
            };
            let by = &mut totals.stacked[kind];
            by.others.entry(name).or_default().add(tally);
            if asked {
                by.asked_others.entry(name).or_default().add(tally);
            }
            by.warm_up += if self.stack.warm_up || compiler { tally.count } else { 0 };
            if self.question.keep_stacks {
                // The type stands as the leaf of an allocation.
                by.stacks.add((!running).then_some(name), &self.stack.all, tally);
            }
        }
    }

    /// Adds a sample of an old object.
    pub(super) fn old_object(
        &mut self,
        trace: u64,
        object: u64,
        root: u64,
        window: &mut Window<'_>,
        totals: &mut Totals,
    ) {
        let one = Tally { count: 1, ..Tally::default() };
        let there = self.decode(trace, false, window, totals);
        let site = self.site(there, totals);
        totals.old_objects += 1;
        totals.old_sites.entry(site).or_default().add(&one);
        let pools = &self.scanned.pools;
        let class = match pools.objects.get(&object) {
            Some(object) => self.class(object.class),
            None => UNRESOLVED.to_owned(),
        };
        let class = totals.names.number(&class);
        totals.old_classes.entry(class).or_default().add(&one);
        if root != 0 {
            totals.old_with_root += 1;
            let chain = self.chain(object, root);
            let chain = totals.names.number(&chain);
            totals.old_chains.entry(chain).or_default().add(&one);
        }
    }

    /// From the object to its root, by classes and fields; never by contents.
    fn chain(&mut self, object: u64, root: u64) -> String {
        let pools = &self.scanned.pools;
        let mut links = Vec::new();
        let mut at = object;
        for _ in 0..CHAIN_MAX {
            let Some(found) = pools.objects.get(&at) else { break };
            let class = self.class(found.class);
            links.push(class);
            let Some(reference) = pools.references.get(&found.referrer) else { break };
            let through = match pools.field_name(reference.field) {
                Some(field) => format!(".{field}"),
                None if reference.array != 0 => "[]".to_owned(),
                None => String::new(),
            };
            let skipped = match reference.skipped {
                0 => String::new(),
                skipped => format!(" ({skipped} skipped)"),
            };
            links.push(format!("{through}{skipped}"));
            at = reference.object;
        }
        // Links alternate: object, the way to it, its holder, ...; a way goes with its holder.
        let mut shown = Vec::new();
        let mut way = String::new();
        for (index, link) in links.into_iter().enumerate() {
            if index % 2 == 1 {
                way = link;
            } else {
                shown.push(format!("{link}{way}"));
                way = String::new();
            }
        }
        if shown.len() > 2 * CHAIN_SHOWN {
            let left_out = shown.len() - 2 * CHAIN_SHOWN;
            let end = shown.len() - CHAIN_SHOWN;
            shown.splice(CHAIN_SHOWN..end, [format!("({left_out} more)")]);
        }
        let (system, kind) = pools.root(root).unwrap_or((UNRESOLVED, ""));
        let root = [system, kind].into_iter().filter(|word| !word.is_empty());
        format!("{} <- root: {}", shown.join(" <- "), root.collect::<Vec<_>>().join(", "))
    }

    /// Fills `self.stack`; false when the event has no stack that could be read.
    fn decode(
        &mut self,
        trace: u64,
        wholly: bool,
        window: &mut Window<'_>,
        totals: &mut Totals,
    ) -> bool {
        let stack = &mut self.stack;
        (stack.leaf, stack.own, stack.truncated, stack.warm_up) = (None, None, false, false);
        stack.methods.clear();
        stack.packages.clear();
        stack.asked.clear();
        stack.all.clear();
        if trace == 0 {
            return false;
        }
        let scanned = self.scanned;
        let (Some(place), Some(layout)) = (scanned.pools.traces.get(&trace), &scanned.traces)
        else {
            self.missing.insert((0, trace), ());
            return false;
        };
        let Ok(bytes) = trace_bytes(window, *place) else {
            self.missing.insert((0, trace), ());
            return false;
        };
        let mut values = std::mem::take(&mut self.values);
        let mut index = 0_u32;
        let no_packages = self.question.packages.is_empty();
        let read: Read<bool> = layout.decode(bytes, &mut values, |frame| {
            self.frame(frame, index, wholly, totals);
            index += 1;
            wholly || (!no_packages && self.stack.own.is_none())
        });
        self.values = values;
        let stack = &mut self.stack;
        // Each counts once however often it stands in the stack.
        for list in [&mut stack.methods, &mut stack.packages] {
            list.sort_unstable();
            list.dedup();
        }
        match read {
            Ok(truncated) => stack.truncated = truncated,
            // A stack that is broken off still has its first frames.
            Err(_) => stack.truncated = true,
        }
        if stack.leaf.is_none() && read.is_err() {
            self.missing.insert((0, trace), ());
        }
        self.stack.leaf.is_some()
    }

    #[inline]
    fn frame(&mut self, frame: Frame, index: u32, wholly: bool, totals: &mut Totals) {
        let method = match self.methods.get(&frame.method) {
            Some(method) => *method,
            None => self.method(frame.method, totals),
        };
        let stack = &mut self.stack;
        if index == 0 {
            stack.leaf = Some(method);
        }
        if stack.own.is_none() && method.own {
            stack.own = Some((method, frame.line));
        }
        if !wholly {
            return;
        }
        if index < self.question.depth {
            stack.packages.push(method.package);
        }
        stack.methods.push(method.name);
        if self.question.keep_stacks {
            stack.all.push(method.name);
        }
        stack.warm_up |= method.warm_up;
        let asked = &mut stack.asked;
        if (!asked.is_empty() || method.asked) && asked.len() as u32 <= self.question.callers {
            asked.push(method.name);
        }
    }

    fn method(&mut self, id: u64, totals: &mut Totals) -> Method {
        let method = match self.scanned.pools.method(id) {
            Some((class, name)) => {
                let class = class.replace('/', ".");
                let full = format!("{class}.{name}");
                Method {
                    name: totals.names.number(&full),
                    package: totals.names.number(package_of(&class)),
                    own: self.question.is_own(&class),
                    warm_up: is_warm_up(&class, name),
                    asked: self.question.asked.as_ref().is_some_and(|asked| full.contains(asked)),
                }
            }
            None => {
                self.missing.insert((1, id), ());
                Method {
                    name: totals.names.number(UNRESOLVED),
                    package: totals.names.number(NONE),
                    own: false,
                    warm_up: false,
                    asked: false,
                }
            }
        };
        self.methods.insert(id, method);
        method
    }

    fn site(&mut self, there: bool, totals: &mut Totals) -> u32 {
        let names = &mut totals.names;
        match (there, self.stack.own, self.stack.leaf) {
            (false, _, _) | (_, None, None) => site_of_none(names),
            (true, Some((own, line)), _) => match self.lines.get(&(own.name, line)) {
                Some(site) => *site,
                None => {
                    // -1 where the class file has no lines.
                    let site = format!("{}:{line}", names.name(own.name));
                    let site = names.number(&site);
                    self.lines.insert((own.name, line), site);
                    site
                }
            },
            (true, None, Some(leaf)) if self.question.packages.is_empty() => leaf.name,
            (true, None, Some(_)) => names.number(NOT_OWN),
        }
    }

    /// The name of a class with dots.
    fn class(&mut self, id: u64) -> String {
        match self.scanned.pools.class(id) {
            Some(class) => class.replace('/', "."),
            None if id == 0 => NONE.to_owned(),
            None => {
                self.missing.insert((2, id), ());
                UNRESOLVED.to_owned()
            }
        }
    }

    /// Name of a thread, whether it is virtual, and whether it compiles.
    fn thread(&mut self, id: u64) -> (String, bool, bool) {
        match self.scanned.pools.thread(id) {
            Some(thread) if thread.is_virtual => (VIRTUAL.to_owned(), true, false),
            Some(thread) if thread.name.is_empty() => (NONE.to_owned(), false, false),
            Some(thread) => {
                // The system cuts names to 15 bytes: `C2 CompilerThre`.
                let compiler = ["C1 Compiler", "C2 Compiler", "JVMCI-native Com"];
                let compiler = compiler.iter().any(|start| thread.name.starts_with(start));
                (without_addresses(&thread.name), false, compiler)
            }
            None if id == 0 => (NONE.to_owned(), false, false),
            None => {
                self.missing.insert((3, id), ());
                (UNRESOLVED.to_owned(), false, false)
            }
        }
    }
}

fn site_of_none(names: &mut crate::jfr::names::Names) -> u32 {
    names.number(NO_STACK)
}

/// The package of a class; that of a lambda or hidden class is its host's.
pub(super) fn package_of(class: &str) -> &str {
    match host_of(class).rsplit_once('.') {
        Some((package, _)) if !package.is_empty() => package,
        _ => NONE,
    }
}

/// A class name without what the JVM appends to lambdas and hidden classes, which differs from
/// run to run: `Main$$Lambda$99+0x00007f46.1014166943`, `Vthreads$$Lambda.0x000000009212d0e8`,
/// `LambdaForm$MH+0x00007fa8.123`.
pub(super) fn host_of(class: &str) -> &str {
    let end = ["$$Lambda", "+0x", ".0x"].iter().filter_map(|mark| class.find(mark)).min();
    &class[..end.unwrap_or(class.len())]
}

/// True within class loading, linking and what they generate.
fn is_warm_up(class: &str, method: &str) -> bool {
    const CLASSES: [&str; 6] = [
        "java.lang.ClassLoader",
        "jdk.internal.loader.",
        "java.lang.invoke.MethodHandleNatives",
        "java.lang.invoke.InnerClassLambdaMetafactory",
        "jdk.internal.org.objectweb.asm.",
        "java.net.URLClassLoader",
    ];
    CLASSES.iter().any(|start| class.starts_with(start))
        || (class == "java.lang.Class" && method.starts_with("forName"))
        || method == "loadClass"
        || method == "<clinit>"
}
