//! Shares of packages in a profile, with everything that such a share means said beside it: how
//! deep was looked, whether a sample may count for several packages, and how many stacks were
//! cut.
//!
//! A share is of all samples of the profile. *Inclusive*: a sample counts once for each package
//! that is among its first frames from the leaf, so the shares sum to more than one. *Exclusive*:
//! a sample counts for one package, that of the first such frame, so they sum to one.

use std::collections::BTreeMap;

use crate::naming::{self, Pattern};
use crate::stacks::Profile;
use crate::table::{Figure, Table};

/// How samples count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Once for each package in the stack.
    #[default]
    Inclusive,
    /// For the package nearest the leaf.
    Exclusive,
}

impl Mode {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Inclusive => "inclusive",
            Self::Exclusive => "exclusive",
        }
    }
}

/// What share of samples a package is expected to have: a setting, which is reported and judges
/// nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The package.
    pub package: Pattern,
    /// Smallest share expected, 0.35 for 35 %.
    pub from: f64,
    /// Largest share expected.
    pub to: f64,
}

/// Where a share lies against its band.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// Within.
    Within,
    /// Smaller than expected.
    Below,
    /// Larger than expected.
    Above,
}

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Packages to tell apart; every package of Java that occurs, when empty.
    pub packages: Vec<Pattern>,
    /// How samples count.
    pub mode: Mode,
    /// Frames looked at, from the leaf; all of them when absent.
    pub depth: Option<u32>,
    /// Expectations.
    pub bands: Vec<Band>,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    /// How samples counted.
    pub mode: Mode,
    /// Frames looked at, from the leaf.
    pub depth: Option<u32>,
    /// Figures by package.
    pub table: Table,
    /// Weight of stacks with more frames than were looked at.
    pub deeper: u64,
    /// Weight of stacks that the recorder cut: what lies beneath the cut is in no share.
    pub truncated: u64,
    /// Each band with the share found and where that lies.
    pub bands: Vec<(Band, f64, Against)>,
}

/// The row of samples that are of no package asked for.
pub const OTHER: &str = "(other)";

/// Shares of packages.
#[must_use]
pub fn shares(profile: &Profile, question: &Question) -> Shares {
    let names: Vec<String> = (0..=profile.frames() as u32)
        .map(|frame| profile.name_of_frame(frame).into_owned())
        .collect();
    // Each frame's package as a number, `None` where it is none of those asked for.
    let mut packages = Vec::<String>::new();
    let mut numbers = BTreeMap::<String, usize>::new();
    let of: Vec<Option<usize>> = names
        .iter()
        .map(|name| {
            let package = if question.packages.is_empty() {
                Some(naming::package(&naming::comparable(name)).to_owned())
            } else {
                // The most telling pattern: `a.b.c` before `a.b`.
                let fitting = question.packages.iter().filter(|pattern| pattern.matches(name));
                fitting
                    .max_by_key(|pattern| pattern.written().len())
                    .map(|p| p.written().to_owned())
            }?;
            let number = *numbers.entry(package.clone()).or_insert(packages.len());
            if number == packages.len() {
                packages.push(package);
            }
            Some(number)
        })
        .collect();
    let mut figures = vec![Figure::default(); packages.len()];
    let mut seen = vec![u32::MAX; packages.len()];
    let mut other = Figure::default();
    let mut shares = Shares {
        mode: question.mode,
        depth: question.depth,
        truncated: profile.truncated,
        ..Shares::default()
    };
    let depth = question.depth.map_or(usize::MAX, |depth| depth as usize);
    for (number, (stack, figure)) in profile.stacks().enumerate() {
        let mut looked_at = stack.take(depth).filter_map(|frame| of[frame as usize]);
        let mut none = true;
        match question.mode {
            Mode::Inclusive => {
                for package in looked_at {
                    none = false;
                    if std::mem::replace(&mut seen[package], number as u32) != number as u32 {
                        figures[package].add(figure);
                    }
                }
            }
            Mode::Exclusive => {
                if let Some(package) = looked_at.next() {
                    none = false;
                    figures[package].add(figure);
                }
            }
        }
        if none {
            other.add(figure);
        }
        if stack.clone().nth(depth).is_some() {
            shares.deeper = shares.deeper.saturating_add(figure.weight);
        }
    }
    shares.table.total = profile.total();
    for (package, figure) in packages.iter().zip(figures) {
        if figure != Figure::default() {
            shares.table.add(package, figure);
        }
    }
    if other != Figure::default() {
        shares.table.add(OTHER, other);
    }
    shares.bands = question.bands.iter().map(|band| against(band, &shares.table)).collect();
    shares
}

fn against(band: &Band, table: &Table) -> (Band, f64, Against) {
    let weight: u64 = table
        .rows
        .iter()
        .filter(|(package, _)| {
            band.package.matches(package) || band.package.written() == package.as_str()
        })
        .map(|(_, row)| row.weight)
        .sum();
    let share = weight as f64 / (table.total.weight as f64).max(1.0);
    let place = if share < band.from {
        Against::Below
    } else if share > band.to {
        Against::Above
    } else {
        Against::Within
    };
    (band.clone(), share, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let mut profile = Profile::default();
        for (stack, weight) in stacks {
            let figure = Figure { weight: *weight, samples: *weight, squares: *weight as f64 };
            profile.add(stack.split(';').map(str::as_bytes), figure);
        }
        profile
    }

    fn rows(shares: &Shares) -> Vec<(&str, u64)> {
        shares.table.ranked().into_iter().map(|(name, row)| (name, row.weight)).collect()
    }

    const STACKS: [(&str, u64); 4] = [
        ("a/Main.main;b/x/C.run;b/x/C.run;b/y/D.go", 6),
        ("a/Main.main;b/x/C.run;java/util/List.get", 3),
        ("a/Main.main;c/E$$Lambda$7/0x7f.run", 1),
        ("[t tid=1];clone3;Thread::call_run", 2),
    ];

    /// The ledger's M-032: each package once per sample; depth stated.
    #[test]
    fn inclusive_counts_each_package_once_per_sample() {
        let all = shares(&profile(&STACKS), &Question::default());
        assert_eq!(
            rows(&all),
            [
                ("a", 10),
                ("b.x", 9),
                ("b.y", 6),
                ("java.util", 3),
                ("(native)", 2),
                ("(thread)", 2),
                ("c", 1)
            ]
        );
        assert_eq!((all.deeper, all.table.total.weight), (0, 12));
    }

    /// The ledger's M-034: own code 4 frames deep is not seen at depth 2, and that is said.
    #[test]
    fn what_lies_deeper_than_looked_is_not_seen_and_counted() {
        let depth = Some(2);
        let two = shares(&profile(&STACKS), &Question { depth, ..Question::default() });
        assert_eq!(two.table.rows.get("a").map(|row| row.weight), Some(1));
        assert_eq!((two.depth, two.deeper), (Some(2), 11));
    }

    #[test]
    fn exclusive_sums_to_the_whole() {
        let question = Question {
            packages: ["a", "b", "b/x"].map(Pattern::new).into(),
            mode: Mode::Exclusive,
            ..Question::default()
        };
        let split = shares(&profile(&STACKS), &question);
        assert_eq!(rows(&split), [("b", 6), ("b/x", 3), (OTHER, 2), ("a", 1)]);
        let sum: u64 = split.table.rows.values().map(|row| row.weight).sum();
        assert_eq!(sum, 12);
    }

    /// The ledger's M-043 and M-048: a share outside its band is named, one inside is not.
    #[test]
    fn bands_are_reported() {
        let band = |from, to| Band { package: Pattern::new("b.y"), from, to };
        let question = Question {
            bands: vec![band(0.0, 0.49), band(0.5, 0.5), band(0.51, 1.0)],
            ..Question::default()
        };
        let found = shares(&profile(&STACKS), &question);
        let places: Vec<_> = found.bands.iter().map(|(_, share, place)| (*share, *place)).collect();
        assert_eq!(places, [(0.5, Against::Above), (0.5, Against::Within), (0.5, Against::Below)]);
    }
}
