//! The planted faults.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use evidence::CompareOptions;
use record::layout;
use record::load::LoadRecord;
use record::mock::MockRecord;
use record::plan::{Compare, Gates};

use super::Case;
use super::bed::{Bed, bench, tripped};

/// All cases.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "failures void a run",
        plant: "a mock that answers 10 % with status 503",
        run: |bed| voids(bed, ", fail = \"10%:status=503\"", "failures"),
    },
    Case {
        name: "connections that do not last void a run",
        plant: "a mock that closes after each answer",
        run: |bed| voids(bed, ", close = 1", "connection_shape"),
    },
    Case {
        name: "a wrong answer of the right size is a failure",
        plant: "a mock with wrong bodies in 10 %",
        run: wrong_bodies,
    },
    Case {
        name: "one request between two witnesses voids a run",
        plant: "a mock record with one request more",
        run: counts_disagree,
    },
    Case {
        name: "a lost request breaks the books",
        plant: "a load record with one success less",
        run: accounting,
    },
    Case {
        name: "absent evidence is named",
        plant: "a run without its samples",
        run: absent_evidence,
    },
    Case {
        name: "a stall shows in an open loop",
        plant: "a mock that stops for 300 ms in every 600 ms",
        run: stall,
    },
    Case {
        name: "a slowdown is seen and a null is not called one",
        plant: "an arm with twice the latency beside the same thing twice",
        run: slowdown,
    },
    Case {
        name: "a killed matrix resumes with nothing twice",
        plant: "a parent killed after its first run",
        run: killed,
    },
    Case { name: "a quick run is no measurement", plant: "a comparison of quick runs", run: quick },
    Case {
        name: "a label is never overwritten",
        plant: "the same label once more",
        run: |bed| {
            bed.bench("", "", "once")?.expect(0)?;
            bed.bench("", "", "once")?.expect(5)?.says("exists")
        },
    },
    Case {
        name: "a slip in a bench is found before anything starts",
        plant: "`blokcs` in `[matrix]`",
        run: |bed| {
            bed.write("bench.toml", &bench("", "").replace("blocks", "blokcs"))?;
            bed.assay(&["run", "bench.toml", "--label", "slip"])?
                .expect(2)?
                .says("nearest `blocks`")
        },
    },
    Case {
        name: "a recording that is none is refused",
        plant: "noise named `a.jfr`",
        run: |bed| {
            bed.write("a.jfr", &"noise ".repeat(100))?;
            let ran = bed.assay(&["digest", "a.jfr"])?.expect(2)?;
            Ok(ran.stderr.lines().next().unwrap_or_default().to_owned())
        },
    },
    Case {
        name: "a calibration that is asked for and missing refuses a matrix",
        plant: "`[require]` without a calibration",
        run: |bed| {
            let more = "[require]\ncalibration = { age = \"1d\" }\n";
            bed.bench("", more, "required")?.expect(5)?.says("no calibration")
        },
    },
    Case {
        name: "a secret does not reach an artefact",
        plant: "a token in the environment of a target",
        run: secret,
    },
];

/// The fault voids a run by its gate; without it the run is valid.
fn voids(bed: &Bed, fault: &str, gate: &str) -> Result<String, String> {
    bed.bench("", "", "sound")?.expect(0)?;
    if let Ok(said) = tripped(&bed.digest("sound")?, gate) {
        return Err(format!("without the fault: {said}"));
    }
    bed.bench(fault, "", "faulty")?.expect(3)?;
    tripped(&bed.digest("faulty")?, gate)
}

fn wrong_bodies(bed: &Bed) -> Result<String, String> {
    let body = String::from_utf8_lossy(&mock::body(26)).into_owned();
    let expect = |mock: &str| {
        bench(mock, "").replace("get = \"/\"", &format!("get = \"/\"\nexpect.body = {body:?}"))
    };
    for (mock, label, code) in
        [(", body_size = 26", "sound", 0), (", body_size = 26, fail = \"10%:body\"", "faulty", 3)]
    {
        bed.write("bench.toml", &expect(mock))?;
        bed.assay(&["run", "bench.toml", "--label", label])?.expect(code)?;
    }
    tripped(&bed.digest("faulty")?, "failures")
}

/// What a sound run says after one of its files was changed.
fn tampered<T: serde::Serialize + serde::de::DeserializeOwned>(
    bed: &Bed,
    file: &str,
    gate: &str,
    change: fn(&mut T),
) -> Result<String, String> {
    bed.bench("", "", "sound")?.expect(0)?;
    let run = bed.run_of("sound")?;
    if let Ok(said) = judged(&run, gate) {
        return Err(format!("without the fault: {said}"));
    }
    let path = run.join(file);
    let mut value: T = layout::read_json(&path).map_err(|error| error.to_string())?;
    change(&mut value);
    layout::write_json(&path, &value).map_err(|error| error.to_string())?;
    judged(&run, gate)
}

/// The detail of a gate in a digest made anew.
fn judged(run: &Path, gate: &str) -> Result<String, String> {
    let gates = Gates { window_ns: 1, requests: 1, ..Gates::default() };
    let digest = evidence::digest(run, &gates, &Compare::default()).map_err(|e| e.to_string())?;
    tripped(&digest, gate)
}

fn counts_disagree(bed: &Bed) -> Result<String, String> {
    tampered(bed, layout::MOCK, "counts_disagree", |mock: &mut MockRecord| mock.served += 1)
}

fn accounting(bed: &Bed) -> Result<String, String> {
    tampered(bed, layout::LOAD, "accounting", |load: &mut LoadRecord| load.succeeded -= 1)
}

fn absent_evidence(bed: &Bed) -> Result<String, String> {
    bed.bench("", "", "sound")?.expect(0)?;
    let run = bed.run_of("sound")?;
    if let Ok(said) = judged(&run, "absent_evidence") {
        return Err(format!("without the fault: {said}"));
    }
    fs::remove_file(run.join(layout::RESOURCES)).map_err(|error| error.to_string())?;
    judged(&run, "absent_evidence")
}

/// Half of the time nothing is answered: the 90th percentile of who comes at any time is a wait.
fn stall(bed: &Bed) -> Result<String, String> {
    let open = |mock: &str| {
        bench(mock, "")
            .replace("users = 2", "rate = \"200/s\"")
            .replace("measure = \"300ms\"", "measure = \"1200ms\"")
    };
    let p90 = |label: &str, mock: &str| -> Result<u64, String> {
        bed.write("bench.toml", &open(mock))?;
        bed.assay(&["run", "bench.toml", "--label", label])?;
        let load = bed.digest(label)?.load.ok_or("no load record")?;
        load.latency_ns.p90.ok_or_else(|| "no p90".to_owned())
    };
    let stalled_ns = p90("stalled", ", stall = \"300ms/600ms\"")?;
    if stalled_ns < 100_000_000 {
        return Err(format!("p90 is {stalled_ns} ns beside stalls of 300 ms"));
    }
    let steady_ns = p90("steady", "")?;
    if steady_ns >= stalled_ns {
        return Err(format!("p90 is {steady_ns} ns without a stall, {stalled_ns} ns with it"));
    }
    Ok(format!(
        "p90 {} ms with the stall, {} ms without",
        stalled_ns / 1_000_000,
        steady_ns / 1_000_000
    ))
}

/// Twice the latency is far above what any machine makes of six pairs.
/// Matrices that may be made until a null does not differ by chance.
const SLOWDOWN_ATTEMPTS: u32 = 3;

fn slowdown(bed: &Bed) -> Result<String, String> {
    let more = "[factors.latency]\nbase = {}\nslower = { target.mock.latency = \"8ms\" }\nnull = \"base\"\n";
    let text = bench("", more)
        .replace("blocks = 1", "blocks = 6")
        .replace("latency = \"2ms\"", "latency = \"4ms\"");
    bed.write("bench.toml", &text)?;
    // A null differs from itself by chance in 3 of 100 matrices, which withholds the word for both:
    // then the matrix is made again.
    let mut said = String::new();
    for attempt in 1..=SLOWDOWN_ATTEMPTS {
        let label = format!("pairs-{attempt}");
        bed.assay(&["run", "bench.toml", "--label", &label])?;
        let dir = bed.path("results").join(label);
        let comparison =
            evidence::compare(&dir, &CompareOptions::default()).map_err(|e| e.to_string())?;
        let verdict = |level: &str| {
            comparison
                .contrasts
                .iter()
                .find(|contrast| contrast.primary && contrast.level == level)
                .map(|contrast| contrast.verdict.clone())
                .ok_or_else(|| format!("no contrast of `{level}`"))
        };
        let (slower, null) = (verdict("slower")?, verdict("null")?);
        said = format!("slower is {slower}, null is {null}, in matrix {attempt}");
        if null != "void" {
            let is_seen = slower == "slower" && null != "slower" && null != "faster";
            return if is_seen { Ok(said) } else { Err(said) };
        }
    }
    Err(said)
}

fn killed(bed: &Bed) -> Result<String, String> {
    bed.write("bench.toml", &bench("", "").replace("blocks = 1", "blocks = 4"))?;
    let mut child = bed.start(&["run", "bench.toml", "--label", "k"], "killed")?;
    let began = Instant::now();
    let digests =
        || bed.runs("k").iter().filter(|run| run.join(layout::DIGEST_JSON).is_file()).count();
    while digests() == 0 && began.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let _ = child.kill();
    child.wait().map_err(|error| error.to_string())?;
    let before = digests();
    if before == 0 || before == 4 {
        return Err(format!("{before} of 4 runs were complete at the kill"));
    }
    bed.assay(&["run", "bench.toml", "--label", "k", "--resume"])?.expect(0)?;
    match digests() {
        4 => Ok(format!("{before} of 4 runs at the kill, 4 of 4 after resuming")),
        other => Err(format!("{other} complete runs of 4 after resuming")),
    }
}

fn quick(bed: &Bed) -> Result<String, String> {
    bed.write("bench.toml", &bench("", ""))?;
    bed.assay(&["run", "bench.toml", "--label", "q", "--quick"])?.expect(0)?;
    bed.assay(&["compare", "results/quick/q"])?.expect(5)?.says("no measurement")
}

fn secret(bed: &Bed) -> Result<String, String> {
    const SECRET: &str = "s3lf-t3st-s3cr3t";
    // Our own mock once more, as a program that is given an environment.
    let program = bed.program().display().to_string();
    let target = format!(
        "command = [{program:?}, \"mock\", \"--listen\", \"127.0.0.1:${{target.port}}\"]\n\
         address = \"127.0.0.1:0\"\nenv.API_TOKEN = \"{SECRET}\""
    );
    let text = bench("", "").replace("mock = { latency = \"2ms\" }", &target);
    bed.write("bench.toml", &text)?;
    bed.assay(&["run", "bench.toml", "--label", "secret"])?.expect(0)?;
    let mut looked = 0;
    for folder in [bed.path("results").join("secret"), bed.run_of("secret")?] {
        for entry in fs::read_dir(&folder).map_err(|error| error.to_string())?.flatten() {
            let Ok(bytes) = fs::read(entry.path()) else { continue };
            looked += 1;
            if bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
                return Err(format!("it stands in `{}`", entry.path().display()));
            }
        }
    }
    if looked < 5 {
        Err(format!("only {looked} files"))
    } else {
        Ok(format!("in none of {looked} files"))
    }
}
