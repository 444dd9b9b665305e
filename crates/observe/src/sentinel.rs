//! The drift sentinel: a fixed amount of computation on the cores of each type, before and after
//! every run. A machine that changed its speed takes another time for it, whatever its sensors say:
//! uniform throttling, a mode of the firmware, a neighbour on the sibling of a core.
//!
//! It is the body of the hidden verb `__spin`, a process of its own, so that the parent of a matrix
//! measures nothing. It never runs while a load is on.

use record::host_state::Spin;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::state::core_list;

/// Slices of each type of core; their median is kept, so that one odd slice changes nothing. Some
/// 30 ms.
const SLICES: usize = 9;
/// Most types of cores.
const TYPES_MAX: usize = 8;

/// The sentinel of each list of cores, as `0-3,8`. Cores that this process may not use are left to
/// the kernel to ignore; a list without any usable one is left out.
#[must_use]
pub fn spins(lists: &[String]) -> Vec<Spin> {
    let mut spins = Vec::new();
    for list in lists.iter().take(TYPES_MAX) {
        let mut wanted = CpuSet::new();
        for core in core_list(list).iter().filter(|core| (**core as usize) < CpuSet::MAX_CPU) {
            wanted.set(*core as usize);
        }
        if sched_setaffinity(None, &wanted).is_err() {
            continue;
        }
        let mut slices = clock::spin::slices(SLICES);
        slices.sort_unstable();
        if let Some(&median_ns) = slices.get(slices.len() / 2) {
            spins.push(Spin { cores: list.clone(), median_ns });
        }
    }
    spins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_each_list_that_is_usable() {
        let thread =
            std::thread::spawn(|| spins(&["0".to_owned(), String::new(), "0-9999".to_owned()]));
        let spins = thread.join().expect("no panic");
        let cores: Vec<&str> = spins.iter().map(|spin| spin.cores.as_str()).collect();
        // A test may be kept off the first core; all of them are usable in any case.
        assert!(cores == ["0", "0-9999"] || cores == ["0-9999"], "{cores:?}");
        assert!(spins.iter().all(|spin| spin.median_ns > 0), "{spins:?}");
    }
}
