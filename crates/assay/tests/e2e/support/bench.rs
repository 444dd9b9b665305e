//! Bench files as text: a small sound run of the mock, from which a test changes what it is about.

use std::fmt::Write;

/// A bench. Keys are dotted paths in their section; setting one again replaces it.
#[derive(Debug, Clone)]
pub(crate) struct Bench {
    target: Vec<(String, String)>,
    scenario: Vec<(String, String)>,
    load: Vec<(String, String)>,
    gates: Vec<(String, String)>,
    matrix: Vec<(String, String)>,
    more: String,
}

fn put(section: &mut Vec<(String, String)>, key: &str, value: &str) {
    section.retain(|(known, _)| known != key);
    section.push((key.to_owned(), value.to_owned()));
}

/// A TOML string.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Bench {
    /// One run of 300 ms against a mock of 2 ms, with every gate that depends on time loose, so
    /// that a busy machine trips none.
    pub(crate) fn mock() -> Self {
        Self::of(&[("mock.latency", "\"2ms\""), ("mock.body_size", "26")])
    }

    /// The same against a shell script that ends up as a mock on `$PORT`; `$ASSAY` is the program.
    pub(crate) fn script(script: &str) -> Self {
        let command = format!("[\"sh\", \"-c\", {}]", quoted(script));
        Self::of(&[
            ("command", &command),
            ("address", "\"127.0.0.1:0\""),
            ("env.PORT", "\"${target.port}\""),
            ("env.ASSAY", &quoted(super::ASSAY)),
            ("bring_up", "\"1s\""),
            ("ready.within", "\"60s\""),
        ])
    }

    /// The same against something that runs already.
    pub(crate) fn url(url: &str) -> Self {
        Self::of(&[("url", &quoted(url))])
    }

    fn of(target: &[(&str, &str)]) -> Self {
        let mut bench = Self {
            target: Vec::new(),
            scenario: Vec::new(),
            load: Vec::new(),
            gates: Vec::new(),
            matrix: Vec::new(),
            more: String::new(),
        };
        for (key, value) in target {
            put(&mut bench.target, key, value);
        }
        bench
            .scenario("get", "\"/\"")
            .load("users", "2")
            .load("warmup", "\"100ms\"")
            .load("measure", "\"300ms\"")
            .load("cooldown", "\"20s\"")
            .load("timeout", "\"60s\"")
            .gates("window", "\"50ms\"")
            .gates("achieved", "\"1%\"")
            .gates("truncated", "\"10%\"")
            .gates("generator_cpu_flag", "\"100%\"")
            .gates("generator_cpu", "\"100%\"")
            .gates("lag", "\"100000%\"")
            .gates("shift", "\"100000%\"")
            .gates("samples", "1")
            .gates("requests", "1")
            .matrix("blocks", "1")
            .more("[observe]\ninterval = \"100ms\"\n")
    }

    pub(crate) fn target(mut self, key: &str, value: &str) -> Self {
        put(&mut self.target, key, value);
        self
    }

    pub(crate) fn scenario(mut self, key: &str, value: &str) -> Self {
        put(&mut self.scenario, key, value);
        self
    }

    pub(crate) fn load(mut self, key: &str, value: &str) -> Self {
        if matches!(key, "users" | "rate" | "stages") {
            self.load.retain(|(known, _)| !["users", "rate", "stages"].contains(&known.as_str()));
        }
        put(&mut self.load, key, value);
        self
    }

    /// Without a key that the sound bench has.
    pub(crate) fn without_load(mut self, key: &str) -> Self {
        self.load.retain(|(known, _)| known != key);
        self
    }

    pub(crate) fn gates(mut self, key: &str, value: &str) -> Self {
        put(&mut self.gates, key, value);
        self
    }

    pub(crate) fn matrix(mut self, key: &str, value: &str) -> Self {
        put(&mut self.matrix, key, value);
        self
    }

    /// Adds a factor from its levels as `name = patch`.
    pub(crate) fn factor(self, name: &str, levels: &[(&str, &str)]) -> Self {
        let mut text = format!("[factors.{name}]\n");
        for (level, patch) in levels {
            let _ = writeln!(text, "{level} = {patch}");
        }
        self.more(&text)
    }

    /// Adds whole sections.
    pub(crate) fn more(mut self, text: &str) -> Self {
        self.more.push_str(text);
        self.more.push('\n');
        self
    }

    pub(crate) fn toml(&self) -> String {
        let mut text = String::new();
        for (header, section) in [
            ("target.api", &self.target),
            ("scenario.get", &self.scenario),
            ("load.steady", &self.load),
            ("gates", &self.gates),
            ("matrix", &self.matrix),
        ] {
            let _ = writeln!(text, "[{header}]");
            for (key, value) in section {
                let _ = writeln!(text, "{key} = {value}");
            }
            text.push('\n');
        }
        text + &self.more
    }
}
