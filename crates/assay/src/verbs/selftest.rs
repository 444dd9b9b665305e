//! `assay selftest`: the guards on this machine, each shown by its name.

use record::Format;
use record::units::HumanDuration;
use serde::Serialize;

use crate::build_stamp;
use crate::cli::SelftestArguments;
use crate::exit::{Outcome, Status};
use crate::output::Output;
use crate::selftest::{self, Verdict};

/// The result for programs.
#[derive(Debug, Serialize)]
struct Report {
    /// `assay.selftest`.
    format: Format,
    passed: usize,
    failed: usize,
    cases: Vec<Verdict>,
}

pub(crate) fn run(arguments: &SelftestArguments, output: &Output) -> Outcome {
    let program = match &arguments.program {
        Some(program) => program.clone(),
        None => build_stamp::program()?,
    };
    let mut cases = Vec::new();
    for case in selftest::cases() {
        output.detail(&format!("planting {}", case.plant));
        let verdict = selftest::run(case, &program)?;
        output.remark(&line(&verdict));
        cases.push(verdict);
    }
    let failed = cases.iter().filter(|case| !case.passed).count();
    let report = Report {
        format: Format::v1("assay.selftest"),
        passed: cases.len() - failed,
        failed,
        cases,
    };
    output.result(arguments.json.json.as_ref(), &report, || text(&report))?;
    Ok(if failed == 0 { Status::Done } else { Status::Failed })
}

fn line(verdict: &Verdict) -> String {
    let word = if verdict.passed { "ok" } else { "FAILED" };
    format!("{word:<6} {} ({})", verdict.name, HumanDuration(verdict.elapsed_ns as f64))
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for case in &report.cases {
        let word = if case.passed { "ok" } else { "FAILED" };
        text.push_str(&format!("{word:<6} {}\n", case.name));
        text.push_str(&format!("       planted: {}\n       said: {}\n", case.plant, case.said));
    }
    text.push_str(&format!(
        "{} of {} guards spoke up\n",
        report.passed,
        report.passed + report.failed
    ));
    text
}
