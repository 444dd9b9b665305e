//! Stacks and their weights: a tree from the root, whose nodes are frames in their place.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::interner::Interner;
use crate::naming::{self, Naming, Pattern};
use crate::table::{Figure, Table};

/// What a weight counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// Samples of running code. One stands for so many ns where the interval is known.
    #[default]
    Samples,
    /// Bytes allocated.
    Bytes,
    /// Nanoseconds.
    Nanoseconds,
}

/// Bounds on memory. What is beyond them keeps its weight under [`BEYOND`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Nodes of the tree, at about 60 bytes each.
    pub nodes: usize,
    /// Text of frames, bytes.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 4 << 20, text_bytes: 128 << 20 }
    }
}

/// The frame of whatever is beyond [`Limits`].
pub const BEYOND: &str = "(beyond the bound)";
/// The row of samples without a frame of the packages named.
pub const NO_OWN_FRAME: &str = "(no frame of the package)";
/// The frame of a stack that has none.
pub const NO_STACK: &str = "(no stack)";

/// A frame in its place.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    frame: u32,
    depth: u32,
    own: Figure,
}

/// Stacks and their weights.
#[derive(Debug, Clone)]
pub struct Profile {
    /// What a weight counts.
    pub unit: Unit,
    /// How long one sample stands for, ns, where that is known; CPU only.
    pub interval_ns: Option<u64>,
    /// Weight of stacks that the recorder cut.
    pub truncated: u64,
    /// Weight whose stack did not fit the limits.
    pub beyond: u64,
    naming: Naming,
    limits: Limits,
    /// Frames as written, with the number of their name.
    written: Interner,
    name_of: Vec<u32>,
    names: Interner,
    nodes: Vec<Node>,
    children: HashTable<u32>,
    hasher: DefaultHashBuilder,
    total: Figure,
    deepest: u32,
}

/// The node above every root.
pub(crate) const ROOT: u32 = 0;

impl Default for Profile {
    fn default() -> Self {
        Self::new(Unit::default(), Naming::default(), Limits::default())
    }
}

impl Profile {
    /// An empty profile.
    #[must_use]
    pub fn new(unit: Unit, naming: Naming, limits: Limits) -> Self {
        let mut profile = Self {
            unit,
            interval_ns: None,
            truncated: 0,
            beyond: 0,
            naming,
            limits,
            written: Interner::default(),
            name_of: Vec::new(),
            names: Interner::default(),
            nodes: vec![Node { parent: ROOT, frame: 0, depth: 0, own: Figure::default() }],
            children: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            total: Figure::default(),
            deepest: 0,
        };
        // Always there: its room is no part of the bound.
        profile.names.add(BEYOND.as_bytes(), usize::MAX);
        profile
    }

    /// Adds a stack, root first.
    pub fn add<'a>(&mut self, stack: impl IntoIterator<Item = &'a [u8]>, figure: Figure) {
        let mut node = ROOT;
        for frame in stack {
            node = self.child(node, frame);
        }
        if node == ROOT {
            node = self.child(ROOT, NO_STACK.as_bytes());
        }
        self.weigh(node, figure);
    }

    /// The node of a frame beneath another; the nearest above it when the limits are reached.
    #[inline]
    pub(crate) fn child(&mut self, parent: u32, frame: &[u8]) -> u32 {
        let name = match self.written.find(frame) {
            Some(written) => self.name_of[written as usize],
            None => self.name(frame),
        };
        self.node(parent, name)
    }

    /// The name of a frame that was not seen before; 0, which is [`BEYOND`], without room.
    #[cold]
    fn name(&mut self, frame: &[u8]) -> u32 {
        let bound = self.limits.text_bytes;
        if self.written.add(frame, bound).is_none() {
            return 0;
        }
        let text = String::from_utf8_lossy(frame);
        let name = match self.naming {
            Naming::Canonical => self.names.add(naming::canonical(&text).as_bytes(), bound),
            Naming::AsWritten => self.names.add(text.as_bytes(), bound),
        };
        let name = name.unwrap_or(0);
        self.name_of.push(name);
        name
    }

    #[inline]
    fn node(&mut self, parent: u32, name: u32) -> u32 {
        let hash = self.hasher.hash_one((u64::from(parent) << 32) | u64::from(name));
        let Self { nodes, children, hasher, .. } = self;
        let is = |&at: &u32| {
            let node = &nodes[at as usize];
            node.parent == parent && node.frame == name
        };
        if let Some(&found) = children.find(hash, is) {
            return found;
        }
        // One node beneath each that is full takes in whatever else would be there.
        let full = nodes.len() >= self.limits.nodes;
        if full && (name != 0 || parent != ROOT) {
            let stays = nodes[parent as usize].frame == 0 && parent != ROOT;
            return if stays { parent } else { self.node(ROOT, 0) };
        }
        let number = u32::try_from(nodes.len()).expect("bounded by the limits");
        let depth = nodes[parent as usize].depth + 1;
        nodes.push(Node { parent, frame: name, depth, own: Figure::default() });
        children.insert_unique(hash, number, |&at| {
            let node = &nodes[at as usize];
            hasher.hash_one((u64::from(node.parent) << 32) | u64::from(node.frame))
        });
        self.deepest = self.deepest.max(depth);
        number
    }

    /// Adds weight to a node.
    #[inline]
    pub(crate) fn weigh(&mut self, node: u32, figure: Figure) {
        let node = &mut self.nodes[node as usize];
        node.own.add(figure);
        if node.frame == 0 {
            self.beyond = self.beyond.saturating_add(figure.weight);
        }
        self.total.add(figure);
    }

    /// The weights turn out to be bytes, whose samples the file does not say.
    pub(crate) fn count_bytes(&mut self) {
        self.unit = Unit::Bytes;
        self.total = Figure::lump(self.total.weight);
        for node in &mut self.nodes {
            node.own = Figure::lump(node.own.weight);
        }
    }

    /// The whole.
    #[must_use]
    pub fn total(&self) -> Figure {
        self.total
    }

    /// Frames of the deepest stack.
    #[must_use]
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// Different frames by name.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.names.len() - 1
    }

    pub(crate) fn name_of_frame(&self, frame: u32) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.names.get(frame))
    }

    /// Stacks with weight, each as its frames from the leaf to the root, in the order of their
    /// first.
    pub(crate) fn stacks(&self) -> impl Iterator<Item = (Climb<'_>, Figure)> {
        self.nodes
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, node)| node.own.weight > 0 || node.own.samples > 0)
            .map(|(at, node)| (Climb { profile: self, at: at as u32 }, node.own))
    }

    /// Figures by leaf: for an allocation profile the type, for a CPU profile the method that ran.
    #[must_use]
    pub fn leaves(&self) -> Table {
        self.table(|frames| frames.next())
    }

    /// Figures by site. Without patterns that is the deepest frame that is no type; with them the
    /// deepest frame of the user's own, and what has none goes under [`NO_OWN_FRAME`].
    #[must_use]
    pub fn sites(&self, own: &[Pattern]) -> Table {
        let is_own: Vec<bool> = (0..self.names.len() as u32)
            .map(|frame| {
                let name = self.name_of_frame(frame);
                own.iter().any(|pattern| pattern.matches(&name))
            })
            .collect();
        let skip = usize::from(self.unit == Unit::Bytes);
        let mut by_frame = vec![Figure::default(); self.names.len()];
        let mut none = Figure::default();
        for (stack, figure) in self.stacks() {
            let mut leaf = None;
            let site = stack
                .inspect(|frame| {
                    leaf.get_or_insert(*frame);
                })
                .skip(skip)
                .find(|frame| own.is_empty() || is_own[*frame as usize]);
            match site.or(leaf.filter(|_| own.is_empty())) {
                Some(frame) => by_frame[frame as usize].add(figure),
                None => none.add(figure),
            }
        }
        let mut table = self.named(&by_frame);
        if none != Figure::default() {
            table.add(NO_OWN_FRAME, none);
        }
        table
    }

    /// Figures by frame anywhere in the stack, once per sample however often it calls itself.
    #[must_use]
    pub fn inclusive(&self) -> Table {
        let mut by_frame = vec![Figure::default(); self.names.len()];
        let mut seen = vec![u32::MAX; self.names.len()];
        for (number, (stack, figure)) in self.stacks().enumerate() {
            for frame in stack {
                let seen = &mut seen[frame as usize];
                if std::mem::replace(seen, number as u32) != number as u32 {
                    by_frame[frame as usize].add(figure);
                }
            }
        }
        self.named(&by_frame)
    }

    /// Patterns that match no frame at all, which is an error and no empty table.
    #[must_use]
    pub fn unmatched<'p>(&self, patterns: &'p [Pattern]) -> Vec<&'p Pattern> {
        let found = |pattern: &&Pattern| {
            !(0..self.names.len() as u32).any(|frame| pattern.matches(&self.name_of_frame(frame)))
        };
        patterns.iter().filter(found).collect()
    }

    fn table(&self, choose: impl Fn(&mut Climb<'_>) -> Option<u32>) -> Table {
        let mut by_frame = vec![Figure::default(); self.names.len()];
        for (mut stack, figure) in self.stacks() {
            if let Some(frame) = choose(&mut stack) {
                by_frame[frame as usize].add(figure);
            }
        }
        self.named(&by_frame)
    }

    fn named(&self, by_frame: &[Figure]) -> Table {
        let mut table = Table { total: self.total, ..Table::default() };
        for (frame, figure) in by_frame.iter().enumerate() {
            if *figure != Figure::default() {
                table.add(&self.name_of_frame(frame as u32), *figure);
            }
        }
        table
    }
}

/// The frames of a stack from the leaf to the root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Climb<'a> {
    profile: &'a Profile,
    at: u32,
}

impl Iterator for Climb<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.at == ROOT {
            return None;
        }
        let node = &self.profile.nodes[self.at as usize];
        self.at = node.parent;
        Some(node.frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn add(profile: &mut Profile, stack: &str, weight: u64) {
        profile.add(stack.split(';').map(str::as_bytes), Figure::sample(weight));
    }

    fn weights(table: &Table) -> Vec<(&str, u64)> {
        table.ranked().into_iter().map(|(name, figure)| (name, figure.weight)).collect()
    }

    /// The ledger's W-031 and W-033: site and type, both by bytes, both sum to the whole.
    #[test]
    fn bytes_by_site_and_by_type() {
        let mut profile = Profile::new(Unit::Bytes, Naming::Canonical, Limits::default());
        add(&mut profile, "main;own/A.run;java/util/Arrays.copyOf;byte[]_[i]", 1_000_000);
        for _ in 0..100 {
            add(&mut profile, "main;own/B.run;java.lang.String_[i]", 10);
        }
        add(&mut profile, "main;java/lang/X.y;byte[]_[k]", 5);
        let own = [Pattern::new("own")];
        let sites = profile.sites(&own);
        let types = profile.leaves();
        assert_eq!(weights(&types), [("[B", 1_000_005), ("java.lang.String", 1_000)]);
        assert_eq!(
            weights(&sites),
            [("own.A.run", 1_000_000), ("own.B.run", 1_000), (NO_OWN_FRAME, 5)]
        );
        for table in [&sites, &types] {
            let sum: u64 = table.rows.values().map(|row| row.weight).sum();
            assert_eq!((sum, table.total.samples), (1_001_005, 102));
        }
        assert_eq!(weights(&profile.sites(&[]))[0], ("java.util.Arrays.copyOf", 1_000_000));
        let none = [Pattern::new("own"), Pattern::new("owned")];
        assert_eq!(profile.unmatched(&none), [&none[1]]);
    }

    /// Trap 28: a method that calls itself counts once per sample.
    #[test]
    fn recursion_counts_once() {
        let mut profile = Profile::default();
        add(&mut profile, "main;a/B.fib;a/B.fib_[j];a/B.fib_[i]", 3);
        add(&mut profile, "main;a/B.other", 1);
        let expected = [("main", 4), ("a.B.fib", 3), ("a.B.other", 1)];
        assert_eq!(weights(&profile.inclusive()), expected);
        assert_eq!(profile.deepest(), 4);
    }

    /// The ledger's W-032: stray blanks do not split a site.
    #[test]
    fn stray_blanks_make_one_row() {
        let mut profile = Profile::default();
        add(&mut profile, "main;a/B.m ", 2);
        add(&mut profile, "main; a/B.m", 3);
        assert_eq!(weights(&profile.leaves()), [("a.B.m", 5)]);
    }

    #[test]
    fn what_is_beyond_the_bounds_keeps_its_weight() {
        let limits = Limits { nodes: 10, text_bytes: 1 << 20 };
        let mut profile = Profile::new(Unit::Samples, Naming::Canonical, limits);
        for number in 0..1_000 {
            add(&mut profile, &format!("main;f{number};g{number}"), 1);
        }
        assert_eq!((profile.total().weight, profile.nodes.len()), (1_000, 11));
        assert!(profile.beyond > 900);
        assert_eq!(weights(&profile.leaves())[0], (BEYOND, profile.beyond));
        let limits = Limits { nodes: 1 << 20, text_bytes: 200 };
        let mut profile = Profile::new(Unit::Samples, Naming::Canonical, limits);
        for number in 0..1_000 {
            add(&mut profile, &format!("main;f{number}"), 1);
        }
        assert_eq!(profile.leaves().total.weight, 1_000);
        assert!(profile.beyond > 900);
    }

    proptest! {
        /// Leaves and sites sum to the whole, and no frame exceeds it.
        #[test]
        fn parts_and_whole(stacks in prop::collection::vec((prop::collection::vec(0_u8..6, 0..9), 1_u64..100), 0..60)) {
            let mut profile = Profile::default();
            for (stack, weight) in &stacks {
                let frames: Vec<String> = stack.iter().map(|frame| format!("p/C.m{frame}")).collect();
                profile.add(frames.iter().map(String::as_bytes), Figure::sample(*weight));
            }
            let total: u64 = stacks.iter().map(|(_, weight)| weight).sum();
            let sum = |table: Table| table.rows.values().map(|row| row.weight).sum::<u64>();
            prop_assert_eq!(profile.total().weight, total);
            prop_assert_eq!(sum(profile.leaves()), total);
            prop_assert_eq!(sum(profile.sites(&[Pattern::new("p.C.m1")])), total);
            prop_assert!(profile.inclusive().rows.values().all(|row| row.weight <= total));
        }
    }
}
