//! A fixed amount of pure computation, and the CPU time that it takes: a machine that changed its
//! speed takes another time for the same work.
//!
//! CPU time of the thread and not wall time, so that being preempted is not taken for being slow.
//! What changes it is the clock, a busy sibling of the core, and a hypervisor that counts stolen
//! time as used.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

/// Steps of one slice: each depends on the one before, so that a core cannot do two at once. Some
/// 3 ms at 3 GHz.
const STEPS: u32 = 1 << 21;
/// Most slices of one call: some seconds on a slow machine.
const SLICES_MAX: usize = 1_000;

/// CPU time of `count` equal slices of work, ns; at most a thousand.
#[must_use]
pub fn slices(count: usize) -> Vec<u64> {
    (0..count.min(SLICES_MAX)).map(|_| slice()).collect()
}

fn slice() -> u64 {
    let began_ns = own_cpu_ns();
    let mut state = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..STEPS {
        // A linear congruential generator (Knuth's MMIX): a multiplication in a chain.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(state);
    own_cpu_ns().saturating_sub(began_ns)
}

/// CPU time of the calling thread, ns.
fn own_cpu_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    // CPU time is never negative.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_has_a_bound() {
        let slices = slices(3);
        assert_eq!(slices.len(), 3);
        // A step is a multiplication: no core makes two million of them in a tenth of a millisecond.
        assert!(slices.iter().all(|ns| *ns > 100_000), "{slices:?}");
    }
}
