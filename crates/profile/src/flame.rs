//! Flame graphs and difference graphs as SVG, drawn by the `inferno` crate. Nothing else in the
//! house knows that crate.
//!
//! The graphs are deterministic: equal profiles give equal bytes.

use std::collections::BTreeMap;

use inferno::flamegraph::{self, Options};

use crate::naming;
use crate::stacks::{Profile, Unit};

/// Why a graph was not drawn.
#[derive(Debug, thiserror::Error)]
pub enum FlameError {
    /// There is nothing to draw.
    #[error("the profile has no stacks: there is nothing to draw")]
    Empty,
    /// The crate that draws refused.
    #[error("the graph could not be drawn: {0}")]
    Draw(#[from] std::io::Error),
}

/// The flame graph of a profile, as SVG. Width is weight, height is depth, colours tell frames
/// apart and mean nothing.
///
/// # Errors
/// [`FlameError::Empty`] without a stack of some weight.
pub fn flame_svg(profile: &Profile, title: &str) -> Result<Vec<u8>, FlameError> {
    let stacks = folded(profile);
    draw(title, profile.unit, stacks.iter().map(|(stack, weight)| format!("{stack} {weight}")))
}

/// The difference graph of two profiles, as SVG: the width is the weight in `after`, red is more
/// than before and blue less. Numbers of hidden classes and threads are left out, for they differ
/// between runs.
///
/// # Errors
/// [`FlameError::Empty`] when `after` has no stack of some weight.
pub fn difference_svg(
    before: &Profile,
    after: &Profile,
    title: &str,
) -> Result<Vec<u8>, FlameError> {
    let mut stacks = BTreeMap::<String, (u64, u64)>::new();
    for (stack, weight) in folded(before) {
        stacks.entry(stack).or_default().0 += weight;
    }
    for (stack, weight) in folded(after) {
        stacks.entry(stack).or_default().1 += weight;
    }
    if stacks.values().all(|(_, after)| *after == 0) {
        return Err(FlameError::Empty);
    }
    let lines = stacks.iter().map(|(stack, (before, after))| format!("{stack} {before} {after}"));
    draw(title, after.unit, lines)
}

/// The stacks by comparable names, each with its weight, in the order of their names.
fn folded(profile: &Profile) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for (stack, figure) in profile.stacks() {
        let mut frames: Vec<u32> = stack.collect();
        frames.reverse();
        let mut line = String::new();
        for frame in frames {
            if !line.is_empty() {
                line.push(';');
            }
            let name = profile.name_of_frame(frame);
            // A semicolon would end the frame, a line end the line.
            line.extend(naming::comparable(&name).chars().map(|c| match c {
                ';' => '|',
                c if c.is_control() => ' ',
                c => c,
            }));
        }
        if figure.weight > 0 {
            let weight = stacks.entry(line).or_insert(0_u64);
            *weight = weight.saturating_add(figure.weight);
        }
    }
    stacks
}

fn draw(
    title: &str,
    unit: Unit,
    lines: impl Iterator<Item = String>,
) -> Result<Vec<u8>, FlameError> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return Err(FlameError::Empty);
    }
    let mut options = Options::default();
    options.title = title.to_owned();
    options.deterministic = true;
    options.count_name = match unit {
        Unit::Samples => "samples",
        Unit::Bytes => "bytes",
        Unit::Nanoseconds => "ns",
    }
    .to_owned();
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)?;
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Figure;

    fn profile(stacks: &[(&str, u64)]) -> Profile {
        let mut profile = Profile::default();
        for (stack, weight) in stacks {
            profile.add(stack.split(';').map(str::as_bytes), Figure::sample(*weight));
        }
        profile
    }

    #[test]
    fn a_graph_names_its_frames_and_is_the_same_each_time() {
        let profile =
            profile(&[("main;a/B<C>.m \"x\" & co;[Ljava/lang/String|", 10), ("main;z", 5)]);
        let svg = flame_svg(&profile, "before").expect("a graph");
        assert_eq!(svg, flame_svg(&profile, "before").expect("a graph"));
        let text = String::from_utf8(svg).expect("text");
        assert!(text.starts_with("<?xml") && text.contains("main (15 samples, 100.00%)"));
        assert!(text.contains("&lt;C&gt;") && text.contains("&amp; co"));
    }

    #[test]
    fn a_difference_leaves_numbers_of_a_run_out() {
        let before = profile(&[("main;a/B$$Lambda$7/0x7f.run", 10)]);
        let after = profile(&[("main;a/B$$Lambda$9/0x8e.run", 14)]);
        let svg = difference_svg(&before, &after, "d").expect("a graph");
        let text = String::from_utf8(svg).expect("text");
        assert!(
            text.contains("a.B$$Lambda.run (14 samples"),
            "one frame, not one gone and one new"
        );
    }

    #[test]
    fn nothing_to_draw_is_said() {
        assert!(matches!(flame_svg(&Profile::default(), "x"), Err(FlameError::Empty)));
        let some = profile(&[("a;b", 1)]);
        assert!(difference_svg(&Profile::default(), &some, "x").is_ok());
        assert!(matches!(difference_svg(&some, &Profile::default(), "x"), Err(FlameError::Empty)));
    }
}
