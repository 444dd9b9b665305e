//! The JSON Schema of a bench file, for editors and other tools.
//!
//! The types here mirror the grammar and are never read into: the parser points into the file
//! and reports everything at once, which a deserializer cannot. A test walks both and fails when
//! a key is in one and not in the other. What a schema cannot say (names that must exist, one
//! kind per table) is left to the parser; a reference may stand for a word or a number, but not
//! for a whole table.

mod types;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value as Json;

use types::{Bench, Count, Duration, Scalar};

/// The JSON Schema (draft 2020-12) of a bench file.
#[must_use]
pub fn schema() -> Json {
    let mut json = schemars::schema_for!(Bench).to_value();
    without_null(&mut json);
    if let Some(Json::Object(definitions)) = json.get_mut("$defs") {
        // These are only referred to by shapes, which the generator cannot see.
        for (name, found) in [
            ("Duration", shape_of::<Duration>()),
            ("Scalar", shape_of::<Scalar>()),
            ("Count", shape_of::<Count>()),
        ] {
            definitions.entry(name).or_insert(found);
        }
        definitions.insert("Name".to_owned(), name_schema());
        for words in ["Fresh", "Signal", "Connections"] {
            // A reference may stand for the word.
            if let Some(found) = definitions.get_mut(words) {
                let reference = serde_json::json!({ "type": "string", "pattern": r"\$\{" });
                *found = serde_json::json!({ "anyOf": [found.take(), reference] });
            }
        }
    }
    json
}

fn shape_of<T: JsonSchema>() -> Json {
    T::json_schema(&mut SchemaGenerator::default()).to_value()
}

fn name_schema() -> Json {
    serde_json::json!({
        "description": "A name: 1 to 40 letters, digits, `.`, `_`, `-`; not kept for controls.",
        "type": "string",
        "pattern": "^[A-Za-z0-9._-]{1,40}$",
        "not": { "pattern": "^(null|null-.*|positive|only)$" }
    })
}

/// TOML has no null: an optional key is absent.
fn without_null(json: &mut Json) {
    match json {
        Json::Object(table) => {
            if let Some(Json::Array(types)) = table.get_mut("type") {
                types.retain(|found| found != "null");
                if let [only] = &types[..] {
                    let only = only.clone();
                    table.insert("type".to_owned(), only);
                }
            }
            if let Some(Json::Array(any)) = table.get_mut("anyOf") {
                any.retain(|found| found.get("type").is_none_or(|kind| kind != "null"));
                if let [Json::Object(only)] = &any[..] {
                    let only = only.clone();
                    table.shift_remove("anyOf");
                    table.extend(only);
                }
            }
            table.values_mut().for_each(without_null);
        }
        Json::Array(list) => list.iter_mut().for_each(without_null),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use super::*;
    use crate::file::TOP_KEYS;
    use crate::node;
    use crate::problem::Problems;
    use crate::read::{Fields, Reading, Stage};
    use crate::source::At;
    use crate::{compare, generator, settings, typed};

    /// The dotted paths that the parser asks for in a table of `root`.
    fn parser_keys(root: &str) -> BTreeSet<String> {
        // Where a key is text or a table, only the table shows the keys within it.
        let text = if root == "target" {
            "address = {}"
        } else if root == "scenario" {
            "expect.body = {}"
        } else if root == "compare" {
            "manipulation = {}"
        } else if root == "require" {
            "calibration = {}"
        } else {
            ""
        };
        let Ok(table) = node::parse(text, 0) else { panic!("the sample is TOML") };
        let problems = RefCell::new(Problems::default());
        let keys = RefCell::new(BTreeSet::new());
        let reading = Reading { stage: Stage::Written, problems: &problems, keys: Some(&keys) };
        let at = At { source: 0, start: 0, end: 0 };
        let mut fields = Fields::new(Some(&table), at, "`[test]`", root);
        match root {
            "target" => typed::target_keys(&mut fields, "", &reading),
            "scenario" => typed::scenario_keys(&mut fields, "", &reading),
            "load" => typed::load_keys(&mut fields, "", &reading),
            "generator" => generator::generator_keys(&mut fields, "", &reading),
            "matrix" => settings::matrix_keys(&mut fields, &reading),
            "cpus" => settings::cpus_keys(&mut fields, &reading),
            "gates" => settings::gates_keys(&mut fields, &reading),
            "observe" => settings::observe_keys(&mut fields, &reading),
            "compare" => compare::compare_keys(&mut fields, &reading),
            "require" => settings::require_keys(&mut fields, &reading),
            "hypothesis" => drop(compare::hypothesis_keys(&mut fields, &reading)),
            other => panic!("no reader for {other}"),
        }
        keys.into_inner()
    }

    /// The dotted paths of the closed tables within a schema.
    fn schema_keys(all: &Json, schema: &Json, path: &str, keys: &mut BTreeSet<String>) {
        if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            let found = all.pointer(reference.trim_start_matches('#'));
            schema_keys(all, found.expect("the reference leads somewhere"), path, keys);
        }
        for any in schema.get("anyOf").and_then(Json::as_array).into_iter().flatten() {
            schema_keys(all, any, path, keys);
        }
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return };
        assert_eq!(schema["additionalProperties"], false, "{path} is open");
        for (key, inner) in properties {
            let path = format!("{path}.{key}");
            schema_keys(all, inner, &path, keys);
            keys.insert(path);
        }
    }

    #[test]
    fn the_parser_and_the_schema_know_the_same_keys() {
        let all = schema();
        let top: BTreeSet<&str> = all["properties"]
            .as_object()
            .expect("a bench is a table")
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(top, BTreeSet::from(TOP_KEYS));
        for (root, name) in [
            ("target", "Target"),
            ("scenario", "Scenario"),
            ("load", "Load"),
            ("generator", "Generator"),
            ("matrix", "Matrix"),
            ("cpus", "Cpus"),
            ("gates", "Gates"),
            ("observe", "Observe"),
            ("compare", "Compare"),
            ("hypothesis", "Hypothesis"),
            ("require", "Require"),
        ] {
            let mut keys = BTreeSet::new();
            schema_keys(&all, &all["$defs"][name], root, &mut keys);
            assert_eq!(keys, parser_keys(root), "{root}");
        }
        for (name, roots) in [
            ("Patch", crate::patch::ROOTS.to_vec()),
            ("WherePatch", [&crate::patch::ROOTS[..], &["gates"]].concat()),
        ] {
            let properties = all["$defs"][name]["properties"].as_object();
            let keys: BTreeSet<&str> =
                properties.expect("a patch is a table").keys().map(String::as_str).collect();
            assert_eq!(keys, roots.into_iter().collect::<BTreeSet<&str>>(), "{name}");
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        fn walk(all: &Json, json: &Json) {
            if let Some(reference) = json.get("$ref").and_then(Json::as_str) {
                assert!(all.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
            }
            match json {
                Json::Object(table) => table.values().for_each(|inner| walk(all, inner)),
                Json::Array(list) => list.iter().for_each(|inner| walk(all, inner)),
                _ => {}
            }
        }
        let all = schema();
        walk(&all, &all);
    }

    /// The gates of the record and the defaults of the file are the same numbers.
    #[test]
    fn default_gates_agree() {
        let Ok(defaults) = node::parse(include_str!("../defaults.toml"), 0) else { panic!("TOML") };
        let problems = RefCell::new(Problems::default());
        let reading = Reading { stage: Stage::Effective, problems: &problems, keys: None };
        let at = At { source: 0, start: 0, end: 0 };
        let gates = defaults["gates"].as_table();
        let mut fields = Fields::new(gates, at, "`[gates]`", "gates");
        assert_eq!(settings::gates(&mut fields, &reading), record::plan::Gates::default());
        assert_eq!(gates.map(indexmap::IndexMap::len), Some(30));
    }
}
