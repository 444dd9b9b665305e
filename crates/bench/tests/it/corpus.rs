//! The fuzz corpus and seeded mutations of it: a plan or problems, never a panic.

use std::fs;
use std::path::Path;

use bench::Overrides;

use crate::support::plan_with;

/// Mutations of every file; all together they take a few seconds.
const MUTATIONS: u32 = 300;

fn corpus() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/bench_file");
    let mut files: Vec<(String, String)> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.display().to_string(), fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the corpus is in {}", folder.display());
    files
}

/// Plans a text as the fuzz target does; the outcome is never empty.
fn try_plan(text: &str) {
    let first = text.lines().next().unwrap_or("");
    let overrides = Overrides {
        only: first.strip_prefix("#--only ").map(str::to_owned),
        set: first.strip_prefix("#--set ").map(str::to_owned).into_iter().collect(),
        rehearse: first.strip_prefix("#--rehearse ").map(str::to_owned),
        quick: first == "#--quick",
        ..Overrides::default()
    };
    match plan_with(text, &overrides) {
        Ok(plan) => assert!(!plan.runs.is_empty()),
        Err(diagnostics) => assert!(!diagnostics.render().is_empty()),
    }
}

/// A small generator (xorshift64*, Vigna 2016), so that a failing seed can be named.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % bound.max(1) as u64) as usize
    }
}

/// Pieces that a mutation inserts: what the grammar gives meaning to.
const PIECES: [&str; 24] = [
    "${vars.a}",
    "${",
    "}",
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    "null",
    "null-",
    "!",
    "*",
    "\n",
    "[[where]]\n",
    "-1",
    "99999999999999999999",
    "1e999",
    "0",
    "\"30s\"",
    "\u{0}",
    "é",
    "#",
];

fn mutated(text: &str, random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(4) {
        let at = random.below(characters.len() + 1);
        let until = (at + random.below(12)).min(characters.len());
        match random.below(4) {
            0 => {
                characters.drain(at..until);
            }
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
            2 => {
                let copied: Vec<char> = characters[at..until].to_vec();
                let to = random.below(characters.len() + 1);
                characters.splice(to..to, copied);
            }
            _ => {
                let piece = PIECES[random.below(PIECES.len())];
                characters.splice(at..until, piece.chars());
            }
        }
    }
    characters.into_iter().collect()
}

#[test]
fn corpus_is_planned_or_refused() {
    for (name, text) in corpus() {
        let outcome = std::panic::catch_unwind(|| try_plan(&text));
        assert!(outcome.is_ok(), "{name}");
    }
}

#[test]
fn mutations_are_planned_or_refused() {
    for (name, text) in corpus() {
        // A long text mutates rarely where it matters and costs the most.
        let count = if text.len() > 3_000 { MUTATIONS / 20 } else { MUTATIONS };
        for seed in 1..=count {
            let text = mutated(&text, &mut Random(u64::from(seed)));
            let outcome = std::panic::catch_unwind(|| try_plan(&text));
            assert!(outcome.is_ok(), "{name} seed {seed}");
        }
    }
}

#[test]
fn every_prefix_is_planned_or_refused() {
    for (_, text) in corpus().into_iter().filter(|(_, text)| text.len() < 3_000) {
        for (end, _) in text.char_indices().step_by(7) {
            try_plan(&text[..end]);
        }
    }
}
