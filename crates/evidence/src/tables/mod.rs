//! What stands beside the contrasts: medians of cells, checks of what the factors did, rival
//! explanations, levels of variance, a rehearsed warm-up. Everything is derived from digests and
//! contrasts alone, after the contrasts and before anyone reads them: a manipulation check may
//! withhold some.

pub(crate) mod arms;
mod cells;
mod figures;
mod hypotheses;
mod manipulation;
mod rehearsal;
mod sleep;
#[cfg(test)]
mod tests;
mod unit_costs;
pub(crate) mod variance;

use record::compare::{Contrast, Tables};
use record::digest::Digest;

/// Fills in the tables of this module and gives contrasts the flags that follow from them.
pub(crate) fn fill(
    tables: &mut Tables,
    measured: &[(&str, &Digest)],
    contrasts: &mut [Contrast],
    notes: &mut Vec<String>,
) {
    tables.manipulations = manipulation::check(measured, contrasts);
    notes.extend(manipulation::notes(&tables.manipulations));
    let (hypotheses, unused) = hypotheses::results(measured, contrasts);
    tables.hypotheses = hypotheses;
    notes.extend(unused);
    (tables.cells, tables.contaminations) = cells::tables(measured);
    variance::flag_layout_noise(measured, contrasts);
    tables.variances = variance::variances(measured, contrasts);
    tables.sleep = sleep::parities(measured, contrasts);
    tables.unit_costs = unit_costs::unit_costs(measured, contrasts);
    tables.rehearsals = rehearsal::rehearsals(measured, contrasts);
}
