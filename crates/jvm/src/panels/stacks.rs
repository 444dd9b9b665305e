//! Whole stacks of a recording with their weights: what a graph is drawn from.
//!
//! Memory is bounded by [`MAX_STACK_FRAMES`]. A stack beyond it keeps its weight in
//! [`Stacks::beyond`], and which stacks those are depends on the order in which chunks were read.

use crate::jfr::Recording;
use crate::jfr::names::FastMap;

use super::events::Stacked;
use super::totals::Tally;
use super::{Counted, Question, read};

/// Frames kept of the different stacks of one kind of sample, at 4 bytes each.
pub const MAX_STACK_FRAMES: usize = 32 << 20;

/// The stacks of one kind of sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stacks {
    /// `cpu`, `cpu time` or `allocation`.
    pub what: &'static str,
    /// `samples`, `ns` or `bytes`.
    pub unit: &'static str,
    /// The stacks, in the order of their names.
    pub stacks: Vec<Stack>,
    /// Weight of stacks beyond the bound, and of samples without one.
    pub beyond: Counted,
}

/// A stack and its weight.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stack {
    /// Frames from the root to the leaf, by name without lines; the last of an allocation is its
    /// type.
    pub frames: Vec<String>,
    /// What was sampled with it.
    pub counted: Counted,
}

/// The stacks of a recording, for each kind of sample that it has. Kinds are never added up.
#[must_use]
pub fn stacks(recording: &Recording, question: &Question) -> Vec<Stacks> {
    let question = Question { whole: true, keep_stacks: true, ..question.clone() };
    let totals = read(recording, &question);
    let mut all = Vec::<Stacks>::new();
    for (kind, what, unit) in [
        (Stacked::Execution, "cpu", "samples"),
        (Stacked::CpuTime, "cpu time", "ns"),
        (Stacked::AllocationSample, "allocation", "bytes"),
        (Stacked::AllocationTlab, "allocation", "bytes"),
    ] {
        let by = totals.of(kind);
        // A recording with both events of allocation has each byte twice: the sample wins.
        if by.all.count == 0 || all.iter().any(|stacks| stacks.what == what) {
            continue;
        }
        let counted = |tally: &Tally| Counted::of(tally, unit);
        let name = |number: &u32| totals.names.name(*number).to_owned();
        let mut stacks: Vec<Stack> = by
            .stacks
            .kept
            .iter()
            .map(|(frames, tally)| Stack {
                frames: frames.iter().rev().map(name).collect(),
                counted: counted(tally),
            })
            .collect();
        stacks.sort_unstable_by(|a, b| a.frames.cmp(&b.frames));
        all.push(Stacks { what, unit, stacks, beyond: counted(&by.stacks.beyond) });
    }
    all
}

/// Stacks while they are read: frames from the leaf, by number of name.
#[derive(Debug, Default)]
pub(super) struct Kept {
    kept: FastMap<Box<[u32]>, Tally>,
    frames: usize,
    beyond: Tally,
}

impl Kept {
    /// Adds to a stack: its leaf, where that is no frame, and its frames.
    pub(super) fn add(&mut self, leaf: Option<u32>, frames: &[u32], tally: &Tally) {
        let stack: Box<[u32]> = leaf.into_iter().chain(frames.iter().copied()).collect();
        self.put(stack, tally);
    }

    fn put(&mut self, stack: Box<[u32]>, tally: &Tally) {
        if let Some(known) = self.kept.get_mut(&stack) {
            known.add(tally);
        } else if stack.is_empty() || self.frames + stack.len() > MAX_STACK_FRAMES {
            self.beyond.add(tally);
        } else {
            self.frames += stack.len();
            self.kept.insert(stack, *tally);
        }
    }

    /// Takes in another's, whose names have other numbers.
    pub(super) fn absorb(&mut self, other: Self, numbers: &[u32]) {
        self.beyond.add(&other.beyond);
        for (stack, tally) in other.kept {
            self.put(stack.iter().map(|number| numbers[*number as usize]).collect(), &tally);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_beyond_the_bound_keeps_its_weight() {
        let mut kept = Kept { frames: MAX_STACK_FRAMES - 3, ..Kept::default() };
        let mut one = Tally::default();
        one.one(10, 0);
        kept.add(None, &[1, 2], &one);
        kept.add(None, &[1, 2], &one);
        kept.add(None, &[3, 4], &one);
        kept.add(None, &[], &one);
        assert_eq!((kept.kept[&[1, 2][..]].sum, kept.beyond.sum, kept.kept.len()), (20, 20, 1));
        let mut other = Kept::default();
        other.absorb(kept, &[0, 5, 6]);
        assert_eq!((other.kept[&[5, 6][..]].count, other.beyond.count), (2, 2));
    }
}
