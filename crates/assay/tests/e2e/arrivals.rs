//! Arrivals that are not all alike: stages and drawn gaps, against what the mock saw.

use record::arrival::Arrival;
use record::load::LoadRecord;
use record::pause::Pause;

use crate::support::{self, Bench, Lab};

/// A hold, a ramp, a pause and a spike: as many requests as their areas say, in the window alone, and
/// each at the mock.
#[test]
fn stages_send_what_their_areas_say() {
    let lab = Lab::new();
    let stages = r#"["100/s for 1s", "to 500/s in 1s", "0/s for 500ms", "1000/s for 500ms"]"#;
    let bench =
        Bench::mock().without_load("measure").load("warmup", "\"200ms\"").load("stages", stages);
    lab.run(&bench, "stages", &[]).expect_one_of(&[0, 3]);
    let run = lab.only_run("stages");
    let (load, mock) = (support::load(&run), support::mock(&run));
    // 100 + 300 + 0 + 500, of which a busy machine may leave some unsent.
    assert_eq!((load.due, load.sent + load.unsent), (900, 900));
    assert_eq!(load.window_ns, 3_000_000_000);
    assert_eq!(load.planned_per_s, Some(300.0));
    assert_eq!(load.stages.len(), 4);
    assert_eq!(mock.served, load.whole_life.sent, "200 ms at 100/s came before");
    assert!(load.whole_life.sent <= 920);
    // A rate that was meant to change is no shift of the target's.
    let steady = load.validity.reasons.iter().find(|reason| reason.gate == "shift");
    assert_eq!(steady, None);
}

/// Both arms of a block meet the same arrivals, each block others; the gaps at the mock scatter as
/// their mean, which even ones do not.
#[test]
fn drawn_gaps_are_the_same_for_both_arms_of_a_block() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .load("rate", "\"400/s\"")
        .load("warmup", "\"0s\"")
        .load("measure", "\"1s\"")
        .load("arrival", "\"poisson\"")
        .load("seed", "11")
        .matrix("blocks", "2")
        .matrix("warmup_run", "false")
        .factor("arm", &[("a", "{}"), ("b", "{ target.mock.latency = \"3ms\" }")]);
    lab.run(&bench, "drawn", &[]).expect_one_of(&[0, 1, 3]);
    let mut seeds = Vec::new();
    for block in [1, 2] {
        let of = |arm: &str| {
            let runs = lab.runs("drawn");
            let of_block = format!("{block:02}-");
            let run = runs.iter().find(|run| run.starts_with(&of_block) && run.ends_with(arm));
            let run = lab.label("drawn").join("runs").join(run.expect("a run of each arm"));
            (support::load(&run), support::mock(&run))
        };
        let ((a, seen), (b, _)) = (of("-a"), of("-b"));
        assert_eq!((a.arrival, a.due), (b.arrival, b.due));
        let Arrival::Poisson { seed } = a.arrival else { panic!("{:?}", a.arrival) };
        assert_eq!(a.arrival, Arrival::Poisson { seed: 11 }.of_block(block));
        seeds.push(seed);
        // Four standard errors of a count of 400; lumps of a busy machine only scatter more.
        assert!((320..=480).contains(&a.due), "{}", a.due);
        let scatter = seen.arrivals.variance_ns2.sqrt() / seen.arrivals.mean_ns;
        assert!(scatter > 0.75, "{scatter}");
        // What was drawn is what was planned.
        assert!(a.validity.reasons.iter().all(|reason| reason.gate != "achieved"));
    }
    assert_ne!(seeds[0], seeds[1]);
}

/// K-127: 20 ms between the requests of a user. Latency knows nothing of it, the rate does, and the
/// books say where the time is; a pace holds from request to request.
#[test]
fn pauses_of_users_are_in_the_rate_and_not_in_the_latency() {
    let lab = Lab::new();
    let bench =
        Bench::mock().load("warmup", "\"0s\"").load("measure", "\"1s\"").gates("little", "\"50%\"");
    let load_of = |label: &str, sets: &[&str]| {
        lab.run(&bench, label, sets).expect_one_of(&[0, 3]);
        support::load(&lab.only_run(label))
    };
    let busy = load_of("busy", &[]);
    let thinking = load_of("thinking", &["load.think=20ms"]);
    let paced = load_of("paced", &["load.pacing=50ms"]);
    assert_eq!((busy.paused_ns, busy.pause), (0, Pause::None));
    // Two users for a second: with 20 ms and 2 ms at least for each loop no more than this.
    assert!(thinking.due <= 2 * (1_000 / 22 + 1), "{}", thinking.due);
    assert!(busy.due > 2 * thinking.due, "{} beside {}", busy.due, thinking.due);
    // Of each loop 20 ms at least were a pause; the last one may have been cut by the window.
    let fewest_ns = (thinking.succeeded - 2) * 20_000_000;
    assert!(thinking.paused_ns >= fewest_ns, "{}", thinking.paused_ns);
    assert!(thinking.latency_ns.min < Some(20_000_000), "{:?}", thinking.latency_ns);
    assert!(paced.due <= 2 * 20, "{}", paced.due);
    assert!(paced.pause == Pause::Pace(50_000_000) && paced.paused_ns > 0, "{paced:?}");
}

/// K-031: 1,001 iterations over 8 users are 1,008, said by the plan and served by the mock, 126 by each
/// of eight connections.
#[test]
fn iterations_are_split_evenly_and_rounded_up() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .without_load("measure")
        .load("users", "8")
        .load("warmup", "16")
        .load("iterations", "1001");
    lab.write("bench.toml", &bench.toml());
    let plan = lab.assay(&["plan", "bench.toml"]).expect(0).stdout;
    assert!(plan.contains("1001 iterations over 8 users are 1008, 126 each"), "{plan}");
    lab.run(&bench, "split", &[]).expect_one_of(&[0, 3]);
    let run = lab.only_run("split");
    let (load, mock) = (support::load(&run), support::mock(&run));
    assert_eq!((load.due, load.succeeded, load.window_asked_count), (1_008, 1_008, Some(1_008)));
    assert_eq!((mock.served, mock.distinct_peer_ports), (1_024, 8));
    // K-032: bounds of another model are refused, not reinterpreted.
    let wrong =
        Bench::mock().without_load("measure").load("rate", "\"5/s\"").load("iterations", "9");
    lab.write("wrong.toml", &wrong.toml());
    let said = lab.assay(&["plan", "wrong.toml"]).expect(2).stderr;
    assert!(said.contains("`iterations` has no effect on load `steady`, an open loop"), "{said}");
}

/// From the command line, with the words of what is wrong.
#[test]
fn a_command_line_takes_stages_and_a_seed() {
    let lab = Lab::new();
    let mock = lab.spawn(&["mock", "--latency", "1ms"]);
    let url = crate::cli::listening(&mock);
    let stages = "50/s for 500ms, to 150/s in 1s";
    let base = ["load", &url, "--warmup", "0s", "--json", "-"];
    let ran = lab.assay(&[&base[..], &["--stages", stages]].concat()).expect_one_of(&[0, 3]);
    let load: LoadRecord = serde_json::from_str(&ran.stdout).expect("a record");
    assert_eq!((load.due, load.stages.len(), load.arrival), (125, 2, Arrival::Constant));
    let ran = lab.assay(&[&base[..], &["--rate", "200/s", "-d", "1s", "--poisson", "7"]].concat());
    let load: LoadRecord =
        serde_json::from_str(&ran.expect_one_of(&[0, 3]).stdout).expect("a record");
    assert_eq!(load.arrival, Arrival::Poisson { seed: 7 });
    let shown = lab.assay(&["load", &url, "--warmup", "0s", "--stages", stages, "--poisson"]);
    let shown = shown.expect_one_of(&[0, 3]).stdout;
    assert!(
        shown.contains("open, 83.33/s in total (mean of 2 stages), exponential gaps of seed 1"),
        "{shown}"
    );
    for (wrong, words) in [
        (vec!["--stages", "100/s 10s"], "`100/s 10s` is no stage"),
        (vec!["--stages", "to 100/s in 1s"], "has no rate to ramp from"),
        (vec!["--stages", "1/s for 1s", "--rate", "5/s"], "cannot be used with"),
        (vec!["--iterations", "5", "--rate", "5/s"], "are of users"),
        (vec!["--poisson"], "add `--rate` or `--stages`"),
        (vec!["--think", "1ms", "--rate", "5/s"], "are of users"),
        (vec!["--think", "1ms", "--pacing", "5ms"], "cannot be used with"),
    ] {
        let ran = lab.assay(&[&["load", url.as_str()][..], &wrong].concat()).expect(2);
        assert!(ran.stderr.contains(words), "{wrong:?}: {}", ran.stderr);
    }
    mock.signal(rustix::process::Signal::TERM);
    mock.finish().expect(0);
}
