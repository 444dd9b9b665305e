//! A secret that a user hands to a run reaches no artefact and no message: not by environment,
//! header, URL, variable, command line or the target's own log of its arguments.

use std::fs;

use crate::support::{Bench, Lab, files};

const SECRET: &str = "S3CRET-f00d";

#[test]
fn no_artefact_holds_a_planted_secret() {
    let lab = Lab::new();
    let serve = "exec \"$ASSAY\" mock --listen 127.0.0.1:$PORT";
    let bench = Bench::script(serve)
        .target(
            "command",
            &format!(
                "[\"sh\", \"-c\", {}, \"sh\", \"--token\", \"{SECRET}\", \"--password={SECRET}\"]",
                crate::support::quoted(serve)
            ),
        )
        .target("env.DB_PASSWORD", &format!("\"{SECRET}\""))
        .target("env.DATABASE_URL", &format!("\"postgres://user:{SECRET}@db/x\""))
        .scenario("get", &format!("\"/login?token={SECRET}&page=1\""))
        .scenario("headers", &format!("{{ Authorization = \"Bearer {SECRET}\" }}"))
        .scenario("vars.api_key", &format!("\"{SECRET}\""))
        .matrix("blocks", "2");
    lab.write("bench.toml", &bench.toml());
    let set = format!("target.env.API_KEY={SECRET}");
    let arguments =
        ["run", "bench.toml", "--label", "kept", "--set", &set, "--json", "matrix.json"];
    let ran = lab.assay(&arguments).expect(0);
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(SECRET), "{text}");
    }
    let mut redacted = 0;
    let artefacts = files(&lab.path().join("results"));
    assert!(artefacts.len() > 20, "{artefacts:?}");
    for path in artefacts.into_iter().chain([lab.path().join("matrix.json")]) {
        let text = String::from_utf8_lossy(&fs::read(&path).expect("an artefact")).into_owned();
        assert!(!text.contains(SECRET), "{}", path.display());
        redacted += text.matches("<redacted>").count();
    }
    assert!(redacted > 10, "what was hidden is said");
    for (verb, arguments) in [
        ("plan", vec!["bench.toml", "--set", &set]),
        ("plan", vec!["bench.toml", "--set", &set, "--json", "-"]),
        ("compare", vec!["results/kept", "--json", "-"]),
    ] {
        let ran = lab.assay(&[&[verb], &arguments[..]].concat());
        assert!(!ran.stdout.contains(SECRET), "{verb}: {}", ran.stdout);
        assert!(!ran.stderr.contains(SECRET), "{verb}: {}", ran.stderr);
    }
    // A resume compares what is redacted on both sides.
    lab.assay(&["run", "bench.toml", "--label", "kept", "--set", &set, "--resume"]).expect(0);
}

#[test]
fn an_error_about_a_secret_does_not_repeat_it() {
    let lab = Lab::new();
    let ran = lab.assay(&["load", &format!("http://user:{SECRET}@host/")]).expect(2);
    assert!(!ran.stderr.contains(SECRET), "{}", ran.stderr);
}
