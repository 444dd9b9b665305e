//! The progress of a matrix: a bar on a terminal, plain lines elsewhere.

use std::collections::BTreeSet;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lab::{Progress, Step};
use record::units::HumanDuration;
use record::validity::Effect;

use crate::output::Output;

/// Shows a matrix on standard error.
pub(crate) struct Display<'a> {
    output: &'a Output,
    bar: Option<ProgressBar>,
    /// Flags whose remedy was told: a machine that is not quiet flags every run alike.
    told: BTreeSet<String>,
    /// Whether the reasons of runs are told: an instrument goes until something trips, by design.
    tells_reasons: bool,
}

impl<'a> Display<'a> {
    pub(crate) fn new(output: &'a Output) -> Self {
        let bar = output.is_interactive().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(0).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Self { output, bar, told: BTreeSet::new(), tells_reasons: true }
    }

    /// Shows the runs of an instrument, whose result tells what tripped.
    pub(crate) fn of_instrument(output: &'a Output) -> Self {
        Self { tells_reasons: false, ..Self::new(output) }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.output.remark(text),
        }
    }
}

fn human(duration: Duration) -> String {
    HumanDuration(duration.as_nanos() as f64).to_string()
}

impl Progress for Display<'_> {
    fn step(&mut self, step: Step<'_>) {
        if !self.output.shows_progress() {
            return;
        }
        match step {
            Step::Run { run, number, of, block, cell, elapsed, remaining } => {
                let left = remaining.map_or_else(|| "unknown".to_owned(), human);
                let text = format!("block {}/{} {cell}, {left} left", block.0, block.1);
                if let Some(bar) = &self.bar {
                    bar.set_length(of as u64);
                    bar.set_position(number as u64 - 1);
                    bar.set_message(text);
                } else {
                    let elapsed = human(elapsed);
                    self.output.remark(&format!("{number}/{of} {run}: {text}, {elapsed} elapsed"));
                }
            }
            Step::Live { rate_per_s, failed } => {
                if let Some(bar) = &self.bar {
                    let before = bar.message();
                    let base = before.split(" | ").next().unwrap_or_default();
                    bar.set_message(format!("{base} | {rate_per_s:.0}/s, {failed} failed"));
                }
            }
            Step::Digested { run, validity } => {
                if let Some(bar) = &self.bar {
                    bar.inc(1);
                }
                let mut again = Vec::new();
                let reasons = validity.reasons.iter().filter(|_| self.tells_reasons);
                for reason in reasons {
                    let flags = reason.effect == Effect::Flag;
                    if flags && !self.told.insert(reason.gate.clone()) {
                        again.push(reason.gate.as_str());
                        continue;
                    }
                    let remedy =
                        reason.remedy.as_ref().map(|text| format!("; {text}")).unwrap_or_default();
                    self.line(&format!("  {run}: {}: {}{remedy}", reason.gate, reason.detail));
                }
                if !again.is_empty() {
                    self.line(&format!("  {run}: again {}", again.join(", ")));
                }
            }
            Step::BringUp { target } => self.output.detail(&format!("bringing up `{target}`")),
            Step::Gap { length } => self.output.detail(&format!("gap of {}", human(length))),
            Step::Note { text } => self.line(&format!("note: {text}")),
        }
    }
}
