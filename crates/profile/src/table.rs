//! Figures by name: one view of a profile.

use std::collections::BTreeMap;

/// What is known of one name.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Figure {
    /// Weight in the profile's unit.
    pub weight: u64,
    /// Samples behind it; 0 when the file does not say, as collapsed stacks of bytes do not.
    pub samples: u64,
    /// Sum of the squares of the samples' weights; the variance of `weight` when samples come
    /// independently (compound Poisson). 0 when the samples are not known.
    pub squares: f64,
}

impl Figure {
    /// A sample of this weight.
    #[must_use]
    pub fn sample(weight: u64) -> Self {
        Self { weight, samples: 1, squares: (weight as f64).powi(2) }
    }

    /// A weight whose samples are not known.
    #[must_use]
    pub fn lump(weight: u64) -> Self {
        Self { weight, samples: 0, squares: 0.0 }
    }

    /// Adds another.
    pub fn add(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.samples = self.samples.saturating_add(other.samples);
        self.squares += other.squares;
    }
}

/// Figures by name, with the whole that they are parts of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Figures by canonical name.
    pub rows: BTreeMap<String, Figure>,
    /// The whole. Rows of an inclusive table sum to more.
    pub total: Figure,
}

impl Table {
    /// Adds to a row; the total is the caller's.
    pub fn add(&mut self, name: &str, figure: Figure) {
        match self.rows.get_mut(name) {
            Some(row) => row.add(figure),
            None => {
                self.rows.insert(name.to_owned(), figure);
            }
        }
    }

    /// The rows by weight, most first; equal ones by name.
    #[must_use]
    pub fn ranked(&self) -> Vec<(&str, Figure)> {
        let mut rows: Vec<_> = self.rows.iter().map(|(name, row)| (name.as_str(), *row)).collect();
        rows.sort_by(|a, b| b.1.weight.cmp(&a.1.weight).then_with(|| a.0.cmp(b.0)));
        rows
    }

    /// The same by comparable names: rows that only a JVM's numbers told apart are one.
    #[must_use]
    pub fn comparable(&self) -> Self {
        let mut table = Self { total: self.total, ..Self::default() };
        for (name, figure) in &self.rows {
            table.add(&crate::naming::comparable(name), *figure);
        }
        table
    }
}
