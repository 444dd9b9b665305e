//! Orders: which cell follows which within a block.
//!
//! `balanced` uses rows of a Williams design (E. J. Williams, "Experimental designs balanced for
//! the estimation of residual effects of treatments", Australian Journal of Scientific Research
//! A 2, 1949): row k is 0, 1, n-1, 2, n-2, ... plus k modulo n. Blocks 2k+1 and 2k+2 take row k
//! and its reverse, so every two levels lead equally often after any even number of blocks. For
//! even n the reverse of row k is row k + n/2, so n/2 rows and their reverses are the whole
//! design and repeat after n blocks; for odd n all n rows are needed, 2n blocks.
//!
//! `shuffle` draws a fresh permutation for every block: no order is favoured, and none is
//! promised to be balanced. Whatever the policy, an order is a permutation of the cells that are
//! run: it is made after filtering and decides nothing about membership.

use std::collections::BTreeMap;

use crate::random::Random;
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

/// The order of `n` levels in a block (from 1). `flip` reverses it for every second row.
fn levels_in_block(n: usize, block: u32, nested: &Nested, flip: bool) -> Vec<usize> {
    let (mut order, reverse) = match nested.policy {
        _ if n == 0 => return Vec::new(),
        Policy::Fixed => return (0..n).collect(),
        Policy::Shuffle => {
            let what = format!("order {}", nested.factor);
            (Random::of(nested.seed, &what, u64::from(block)).permutation(n), flip)
        }
        Policy::Balanced => {
            let pair = (block as usize - 1) / 2;
            let rows = if n.is_multiple_of(2) { n / 2 } else { n };
            (williams_row(n, pair % rows), block.is_multiple_of(2) != flip)
        }
    };
    if reverse {
        order.reverse();
    }
    order
}

/// One factor as the order sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nested {
    /// Index into the levels of an assignment.
    pub(crate) factor: usize,
    /// Rows reverse what lies inside at every second level.
    pub(crate) contrasted: bool,
    pub(crate) policy: Policy,
    /// Of the plan, for what is shuffled.
    pub(crate) seed: u64,
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
    for index in levels_in_block(groups.len(), block, outer, flip) {
        let turns = !outer.contrasted && index % 2 == 1;
        arrange(assignments, groups[index], inner, block, flip != turns, order);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nested(factor: usize, contrasted: bool, policy: Policy) -> Nested {
        Nested { factor, contrasted, policy, seed: 1 }
    }

    fn balanced(n: usize, block: u32) -> Vec<usize> {
        levels_in_block(n, block, &nested(0, true, Policy::Balanced), false)
    }

    /// five levels, six blocks, to the letter.
    #[test]
    fn five_levels_in_six_blocks() {
        let orders: Vec<Vec<usize>> = (1..=6).map(|block| balanced(5, block)).collect();
        assert_eq!(
            orders,
            [
                [0, 1, 4, 2, 3],
                [3, 2, 4, 1, 0],
                [1, 2, 0, 3, 4],
                [4, 3, 0, 2, 1],
                [2, 3, 1, 4, 0],
                [0, 4, 1, 3, 2],
            ]
        );
    }

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
                        let order = balanced(n, block);
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
                let order = balanced(n, block as u32);
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
                nested(0, false, Policy::Balanced),
                nested(1, true, Policy::Balanced),
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

        /// whatever was filtered, whatever the policies, an order holds every cell that
        /// is run exactly once, and is the same each time it is asked for.
        #[test]
        fn an_order_never_changes_membership(
            kept in proptest::collection::vec(any::<bool>(), 24),
            policies in proptest::collection::vec(0_usize..3, 3),
            rows in proptest::collection::vec(any::<bool>(), 3),
            block in 1_u32..50,
            seed in any::<u64>(),
        ) {
            let all = (0..2).flat_map(|a| (0..3).flat_map(move |b| (0..4).map(move |c| vec![a, b, c])));
            let assignments: Vec<Vec<usize>> =
                all.zip(&kept).filter(|(_, kept)| **kept).map(|(cell, _)| cell).collect();
            let nest: Vec<Nested> = (0..3)
                .map(|factor| Nested {
                    factor,
                    contrasted: !rows[factor],
                    policy: [Policy::Balanced, Policy::Fixed, Policy::Shuffle][policies[factor]],
                    seed,
                })
                .collect();
            let order = block_order(&assignments, &nest, block);
            let mut members = order.clone();
            members.sort_unstable();
            prop_assert_eq!(members, (0..assignments.len()).collect::<Vec<_>>());
            prop_assert_eq!(order, block_order(&assignments, &nest, block));
        }

        /// A shuffled factor has another order in another block or under another seed, often
        /// enough that 40 blocks never agree in all of it.
        #[test]
        fn a_shuffle_is_fresh_in_every_block(seed in any::<u64>()) {
            let orders = |seed: u64| -> Vec<Vec<usize>> {
                let shuffled = Nested { seed, ..nested(0, true, Policy::Shuffle) };
                (1..=40).map(|block| levels_in_block(5, block, &shuffled, false)).collect()
            };
            let mine = orders(seed);
            prop_assert!(mine.iter().any(|order| *order != mine[0]));
            prop_assert_ne!(&mine, &orders(seed.wrapping_add(1)));
        }
    }
}
