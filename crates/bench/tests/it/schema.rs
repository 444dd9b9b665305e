//! The schema file is the one that the types give.

use std::path::Path;

#[test]
fn the_schema_file_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/bench.schema.json");
    let mut expect = serde_json::to_string_pretty(&bench::schema()).unwrap();
    expect.push('\n');
    if std::env::var_os("UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &expect).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expect, "schemas/bench.schema.json is stale; run with UPDATE_SCHEMAS=1");
}
