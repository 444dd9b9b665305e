//! Small parts of command lines that several tools share.

use record::plan::Scenario;

use crate::job::Job;

/// A command line in the making.
#[derive(Debug, Default)]
pub(crate) struct Argv(Vec<String>);

impl Argv {
    pub(crate) fn new(program: &str) -> Self {
        Self(vec![program.to_owned()])
    }

    pub(crate) fn flag(mut self, flag: &str) -> Self {
        self.0.push(flag.to_owned());
        self
    }

    pub(crate) fn with(mut self, flag: &str, value: impl ToString) -> Self {
        self.0.push(flag.to_owned());
        self.0.push(value.to_string());
        self
    }

    pub(crate) fn when(self, condition: bool, flag: &str) -> Self {
        if condition { self.flag(flag) } else { self }
    }

    /// `flag "Name: value"` for each header of the scenario.
    pub(crate) fn headers(mut self, flag: &str, scenario: &Scenario) -> Self {
        for (name, value) in &scenario.headers {
            self = self.with(flag, format!("{name}: {value}"));
        }
        self
    }

    /// The user's arguments, then the rest.
    pub(crate) fn finish(mut self, job: &Job<'_>, last: &[&str]) -> Vec<String> {
        self.0.extend(job.args.iter().cloned());
        self.0.extend(last.iter().map(|one| (*one).to_owned()));
        self.0
    }
}

/// Text as a string literal that JavaScript, Lua and Python read alike: only printable ASCII stays
/// as it is.
pub(crate) fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The content type of a body, for tools that have a flag for it.
pub(crate) fn content_type(scenario: &Scenario) -> Option<&str> {
    let named = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("content-type");
    scenario.headers.iter().find(named).map(|(_, value)| value.as_str())
}
