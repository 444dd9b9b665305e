//! Deadlines in nanoseconds, earliest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a deadline belongs to: a place in the table of connections, and which of the
/// connections that sat there over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner {
    /// The place.
    pub(crate) slot: u32,
    /// The connection's number at that place.
    pub(crate) generation: u32,
}

/// A heap of deadlines. A closed connection's deadline stays until it comes up or is cleared
/// out, whichever is first: owners are looked up, so a stale one does no harm.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(u64, Owner)>>,
}

impl Timers {
    /// Adds a deadline.
    pub(crate) fn add(&mut self, due_ns: u64, owner: Owner) {
        self.heap.push(Reverse((due_ns, owner)));
    }

    /// The earliest deadline.
    pub(crate) fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse((due_ns, _))| *due_ns)
    }

    /// Takes the earliest deadline that is not after `now_ns`: never early.
    pub(crate) fn pop_due(&mut self, now_ns: u64) -> Option<Owner> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.heap.pop().map(|Reverse((_, owner))| owner)
    }

    /// Deadlines held, stale ones too.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Keeps the deadlines whose owner is `live`.
    pub(crate) fn retain(&mut self, mut live: impl FnMut(Owner) -> bool) {
        self.heap.retain(|Reverse((_, owner))| live(*owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(slot: u32) -> Owner {
        Owner { slot, generation: 0 }
    }

    #[test]
    fn comes_up_in_order_and_never_early() {
        let mut timers = Timers::default();
        for (due, slot) in [(30, 3), (10, 1), (20, 2)] {
            timers.add(due, owner(slot));
        }
        assert_eq!(timers.next_ns(), Some(10));
        assert_eq!(timers.pop_due(9), None);
        assert_eq!(timers.pop_due(10), Some(owner(1)));
        assert_eq!(timers.pop_due(19), None);
        assert_eq!(timers.pop_due(100), Some(owner(2)));
        timers.retain(|owner| owner.slot != 3);
        assert_eq!((timers.len(), timers.next_ns()), (0, None));
    }
}
