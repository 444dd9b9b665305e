//! Orders: which cell follows which within a block.
//!
//! `balanced` uses rows of a Williams design (E. J. Williams, "Experimental designs balanced for
//! the estimation of residual effects of treatments", Australian Journal of Scientific Research
//! A 2, 1949): row k is 0, 1, n-1, 2, n-2, ... plus k modulo n. Blocks 2k+1 and 2k+2 take row k
//! and its reverse, so every two levels lead equally often after any even number of blocks. For
//! even n the reverse of row k is row k + n/2, so n/2 rows and their reverses are the whole
//! design and repeat after n blocks; for odd n all n rows are needed, 2n blocks.

use std::collections::BTreeMap;

use crate::settings::Policy;

/// Row `k` of the Williams design for `n` levels: a permutation of `0..n`.
pub(crate) fn williams_row(n: usize, k: usize) -> Vec<usize> {
    (0..n)
        .map(|position| {
            // 0, 1, n-1, 2, n-2, ...
            let start = match position {
                0 => 0,
                odd if odd % 2 == 1 => odd.div_ceil(2),
                even => n - even / 2,
            };
            (start + k) % n
        })
        .collect()
}

/// The order of `n` levels in a block (from 1), before any reversal for rows.
fn levels_in_block(n: usize, block: u32, policy: Policy, flip: bool) -> Vec<usize> {
    if policy == Policy::Fixed || n == 0 {
        return (0..n).collect();
    }
    let pair = (block as usize - 1) / 2;
    let rows = if n.is_multiple_of(2) { n / 2 } else { n };
    let mut row = williams_row(n, pair % rows);
    if block.is_multiple_of(2) != flip {
        row.reverse();
    }
    row
}

/// One factor as the order sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nested {
    /// Index into the levels of an assignment.
    pub(crate) factor: usize,
    /// Rows reverse what lies inside at every second level.
    pub(crate) contrasted: bool,
    pub(crate) policy: Policy,
}

/// The cells of one block in the order of execution.
///
/// `assignments` holds, per cell, the index of its level in each factor; `nest` lists the
/// factors, outermost first. Returns indices into `assignments`.
///
/// A contrasted outer factor has the same inner order under each of its levels. A row (scenario,
/// load) reverses it at every second level. The second level is meant as listed, not as reached:
/// with an even number of rows the order reached is itself reversed in every second block, and
/// the two reversals would cancel.
pub(crate) fn block_order(assignments: &[Vec<usize>], nest: &[Nested], block: u32) -> Vec<usize> {
    let cells: Vec<usize> = (0..assignments.len()).collect();
    let mut order = Vec::with_capacity(cells.len());
    arrange(assignments, &cells, nest, block, false, &mut order);
    order
}

fn arrange(
    assignments: &[Vec<usize>],
    cells: &[usize],
    nest: &[Nested],
    block: u32,
    flip: bool,
    order: &mut Vec<usize>,
) {
    let Some((outer, inner)) = nest.split_first() else {
        order.extend(cells);
        return;
    };
    // The levels left after what was skipped, as listed.
    let mut by_level: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cell in cells {
        by_level.entry(assignments[*cell][outer.factor]).or_default().push(*cell);
    }
    let groups: Vec<&Vec<usize>> = by_level.values().collect();
    for index in levels_in_block(groups.len(), block, outer.policy, flip) {
        let turns = !outer.contrasted && index % 2 == 1;
        arrange(assignments, groups[index], inner, block, flip != turns, order);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_are_the_published_ones() {
        assert_eq!(williams_row(3, 0), [0, 1, 2]);
        assert_eq!(williams_row(4, 0), [0, 1, 3, 2]);
        assert_eq!(williams_row(5, 0), [0, 1, 4, 2, 3]);
        assert_eq!(williams_row(5, 1), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn the_reverse_of_an_even_row_is_the_row_half_way() {
        for n in [2, 4, 6, 8, 10] {
            for k in 0..n / 2 {
                let mut reverse = williams_row(n, k);
                reverse.reverse();
                assert_eq!(reverse, williams_row(n, k + n / 2), "n {n} k {k}");
            }
        }
    }

    proptest! {
        /// After any even number of blocks every level leads every other equally often.
        #[test]
        fn leads_are_balanced(n in 2_usize..9, pairs in 1_u32..9) {
            for a in 0..n {
                for b in 0..a {
                    let mut leads = 0_i32;
                    for block in 1..=2 * pairs {
                        let order = levels_in_block(n, block, Policy::Balanced, false);
                        let at = |level| order.iter().position(|found| *found == level);
                        leads += if at(a) < at(b) { 1 } else { -1 };
                    }
                    prop_assert_eq!(leads, 0);
                }
            }
        }

        /// After n blocks (odd n: 2n) every level has followed every other equally often.
        #[test]
        fn carry_over_is_balanced(n in 2_usize..9) {
            let blocks = if n % 2 == 0 { n } else { 2 * n };
            let mut followed = vec![vec![0; n]; n];
            for block in 1..=blocks {
                let order = levels_in_block(n, block as u32, Policy::Balanced, false);
                for pair in order.windows(2) {
                    followed[pair[0]][pair[1]] += 1;
                }
            }
            for (a, row) in followed.iter().enumerate() {
                for (b, times) in row.iter().enumerate() {
                    prop_assert_eq!(*times, if a == b { 0 } else { blocks / n });
                }
            }
        }

        /// Within each row, whatever is nested where, pairs of a contrast still alternate.
        #[test]
        fn rows_keep_the_balance(rows in 1_usize..5, levels in 2_usize..5, pairs in 1_u32..4) {
            let assignments: Vec<Vec<usize>> =
                (0..rows).flat_map(|row| (0..levels).map(move |level| vec![row, level])).collect();
            let nest = [
                Nested { factor: 0, contrasted: false, policy: Policy::Balanced },
                Nested { factor: 1, contrasted: true, policy: Policy::Balanced },
            ];
            for row in 0..rows {
                let mut leads = 0_i32;
                for block in 1..=2 * pairs {
                    let order = block_order(&assignments, &nest, block);
                    let at = |level| order.iter().position(|c| assignments[*c] == [row, level]);
                    leads += if at(0) < at(1) { 1 } else { -1 };
                }
                prop_assert_eq!(leads, 0);
            }
        }
    }
}
