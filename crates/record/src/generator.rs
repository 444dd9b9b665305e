//! The load generator of a cell as the plan carries it. assay's own is written as its bare name,
//! which is also all that plans of earlier versions have.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Name of the built-in generator.
pub const ASSAY: &str = "assay";

/// What loads the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// Name of its table; `assay` is built in.
    pub name: String,
    /// What it is.
    pub kind: GeneratorKind,
    /// The user's script for it, absolute.
    pub script: Option<String>,
    /// Arguments added to those that the job asks for.
    pub args: Vec<String>,
    /// For a command: regular expressions whose named groups are its figures.
    pub patterns: Vec<String>,
}

/// What a generator is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GeneratorKind {
    /// assay's own.
    #[default]
    Assay,
    /// A tool that assay knows, by the name of its adapter.
    Adapter(String),
    /// Any program: its arguments, program first. `{url}`, `{users}` and the like are filled in.
    Command(Vec<String>),
}

impl Default for Generator {
    fn default() -> Self {
        Self::named(ASSAY)
    }
}

impl Generator {
    /// The built-in generator under a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: GeneratorKind::Assay,
            script: None,
            args: Vec::new(),
            patterns: Vec::new(),
        }
    }

    /// Whether it is another program than assay.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.kind != GeneratorKind::Assay
    }

    /// The adapter that reads it; `None` for assay's own.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        match &self.kind {
            GeneratorKind::Assay => None,
            GeneratorKind::Adapter(adapter) => Some(adapter),
            GeneratorKind::Command(_) => Some("command"),
        }
    }
}

/// The table form.
#[derive(Serialize, Deserialize)]
struct Table {
    name: String,
    kind: GeneratorKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    patterns: Vec<String>,
}

impl Serialize for Generator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.is_foreign() {
            return serializer.serialize_str(&self.name);
        }
        let Self { name, kind, script, args, patterns } = self.clone();
        Table { name, kind, script, args, patterns }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Generator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Name(String),
            Table(Table),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Name(name) => Self::named(&name),
            Either::Table(Table { name, kind, script, args, patterns }) => {
                Self { name, kind, script, args, patterns }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_of_an_earlier_version_reads_as_the_built_in_generator() {
        let read: Generator = serde_json::from_str("\"assay\"").expect("a name");
        assert_eq!(read, Generator::default());
        assert_eq!(serde_json::to_string(&read).expect("JSON"), "\"assay\"");
    }

    #[test]
    fn a_foreign_generator_survives_the_way_through_json() {
        for kind in [
            GeneratorKind::Adapter("wrk".to_owned()),
            GeneratorKind::Command(vec!["./drive".to_owned(), "{url}".to_owned()]),
        ] {
            let written = Generator {
                name: "mine".to_owned(),
                kind,
                script: Some("/bench/get.lua".to_owned()),
                args: vec!["-v".to_owned()],
                patterns: vec!["(?<requests>[0-9]+)".to_owned()],
            };
            let json = serde_json::to_string(&written).expect("JSON");
            assert_eq!(serde_json::from_str::<Generator>(&json).expect("a generator"), written);
        }
    }
}
