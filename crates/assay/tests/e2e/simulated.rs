//! Whole matrices whose truth is known, written as run directories and judged by the command:
//! 500 of them, under machines that drift, remember, favour a position or go wild. The same laws
//! are tried by the thousand on the functions alone in `crates/stats/tests/simulation`.

use std::path::Path;

use evidence::samples::{SampleRun, level};
use record::compare::{Comparison, Contrast};
use stats::random::Random;

use crate::support::Lab;

/// Blocks of a matrix.
const BLOCKS: usize = 12;
/// Standard deviation of a log-ratio.
const SD: f64 = 0.02;
/// Cells: the baseline, its null and the level.
const ARMS: usize = 3;
/// All orders of three cells; six blocks are balanced for position and predecessor.
const ORDERS: [[usize; ARMS]; 6] =
    [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];

/// What the machine does to a run, on the log scale.
#[derive(Debug, Clone, Copy, Default)]
struct Machine {
    /// From the first run of the matrix to the last.
    drift: f64,
    /// By position in the block.
    position: [f64; ARMS],
    /// Lag-1 correlation of the runs' noise.
    correlation: f64,
    /// Share of runs whose noise is ten times as large.
    outliers: f64,
}

#[test]
fn without_an_effect_few_matrices_are_called_faster_or_slower() {
    let quiet = Machine::default();
    let machines = [
        ("quiet", quiet),
        ("drift", Machine { drift: 0.10, ..quiet }),
        ("order effect", Machine { position: [0.02, 0.0, -0.01], ..quiet }),
        ("autocorrelation", Machine { correlation: 0.7, ..quiet }),
        ("outliers", Machine { outliers: 0.1, ..quiet }),
    ];
    for (index, (name, machine)) in machines.into_iter().enumerate() {
        let words = words(70, 0.0, machine, 100 + index as u64);
        let alarms = words.of("faster") + words.of("slower");
        // A true rate of 5 % gives more than 9 of 70 once in 400 times.
        assert!(alarms <= 9, "{name}: {words:?}");
        assert!(words.of("equivalent") > 0, "{name}: {words:?}");
        if name == "quiet" {
            assert!(alarms <= 3, "5 % of 70: {words:?}");
            assert!(words.of("equivalent") >= 45, "{words:?}");
        }
    }
}

#[test]
fn an_effect_is_seen_as_often_as_the_methodology_says() {
    // The table says 0.80; four standard errors over 150 are 0.13.
    let words = words(150, 0.02, Machine::default(), 200);
    let seen = f64::from(words.of("faster")) / 150.0;
    assert!((seen - 0.80).abs() < 0.13, "{words:?}");
    assert_eq!(words.of("slower"), 0, "{words:?}");
}

/// The word of each matrix.
#[derive(Debug)]
struct Words(Vec<String>);

impl Words {
    fn of(&self, word: &str) -> u32 {
        self.0.iter().filter(|said| *said == word).count() as u32
    }
}

/// Writes and judges so many matrices.
fn words(matrices: usize, effect: f64, machine: Machine, seed: u64) -> Words {
    let lab = Lab::new();
    // In memory where there is such a place: a disk would take most of the time.
    let memory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let memory = memory.expect("a temporary folder");
    let label = memory.path().join("simulated");
    let mut random = Random::seeded(seed);
    let words = (0..matrices)
        .map(|_| {
            // Every matrix has the same run directories and other figures in them.
            let truth = write_matrix(&label, effect, machine, &mut random);
            let ended = lab.assay(&["compare", &label.display().to_string(), "--json", "-"]);
            let found: Comparison =
                serde_json::from_str(&ended.stdout).expect("the comparison is JSON");
            let contrast = primary(&found, "level");
            assert_eq!((contrast.metric.as_str(), contrast.pairs), ("throughput", BLOCKS as u32));
            assert!(contrast.left_out.is_empty(), "{:?}", contrast.left_out);
            assert!(primary(&found, "null").null);
            // The files carry what was written: half a percent of a request is lost to counts.
            let mean = contrast.mean_log_ratio.expect("twelve pairs have a mean");
            assert!((mean - truth).abs() < 1e-4, "{mean} for {truth}");
            // 3 is a contrast that is void, since its null differs from itself.
            let void = found.contrasts.iter().any(|one| one.primary && one.verdict == "void");
            assert_eq!(ended.status.code(), Some(if void { 3 } else { 0 }), "{}", ended.stderr);
            contrast.verdict.clone()
        })
        .collect();
    Words(words)
}

fn primary<'a>(found: &'a Comparison, level: &str) -> &'a Contrast {
    let one = found.contrasts.iter().find(|one| one.level == level && one.primary);
    one.expect("each level has a primary contrast")
}

/// Writes the run directories of one matrix; gives the mean log-ratio of its pairs.
fn write_matrix(label: &Path, effect: f64, machine: Machine, random: &mut Random) -> f64 {
    let levels = [level("base", 0, None), level("null", 1, Some("base")), level("level", 2, None)];
    let mut remembered = random.normal();
    let mut mean = 0.0;
    for block in 0..BLOCKS {
        let mut figures = [0.0; ARMS];
        for (position, cell) in ORDERS[block % ORDERS.len()].into_iter().enumerate() {
            let run = block * ARMS + position;
            let wild = if random.unit() < machine.outliers { 10.0 } else { 1.0 };
            let figure = machine.drift * run as f64 / (BLOCKS * ARMS) as f64
                + machine.position[position]
                + SD / std::f64::consts::SQRT_2 * wild * remembered
                + if cell == 2 { effect.ln_1p() } else { 0.0 };
            let kept = machine.correlation;
            remembered = kept * remembered + (1.0 - kept * kept).sqrt() * random.normal();
            figures[cell] = figure;
            at_rate(SampleRun::sound(block as u32 + 1, position as u32 + 1, &levels[cell]), figure)
                .complete(label);
        }
        mean += (figures[2] - figures[0]) / BLOCKS as f64;
    }
    mean
}

/// The run with its throughput multiplied by `e^log`; books and latencies agree with it.
fn at_rate(mut run: SampleRun, log: f64) -> SampleRun {
    let load = run.load.as_mut().expect("a sound run has a load record");
    let requests = (load.due as f64 * 100.0 * log.exp()).round() as u64;
    let factor = requests as f64 / load.due as f64;
    (load.due, load.sent, load.succeeded) = (requests, requests, requests);
    load.rate_per_s *= factor;
    load.whole_life.sent = requests + 2_400;
    load.whole_life.answered = requests + 2_400;
    for summary in [&mut load.latency_ns, &mut load.service_ns] {
        summary.count = requests;
        summary.mean = summary.mean.map(|mean| mean / factor);
        for figure in [
            &mut summary.min,
            &mut summary.p50,
            &mut summary.p90,
            &mut summary.p95,
            &mut summary.p99,
            &mut summary.p999,
            &mut summary.max,
        ] {
            *figure = figure.map(|ns| (ns as f64 / factor) as u64);
        }
    }
    for step in &mut load.steps {
        (step.sent, step.succeeded) = (requests, requests);
    }
    let half = requests / 2;
    for (worker, share) in load.workers.iter_mut().zip([half, requests - half]) {
        (worker.due, worker.sent, worker.succeeded) = (share, share, share);
    }
    let mock = run.mock.as_mut().expect("a sound run has a mock record");
    mock.served = requests + 2_400;
    run
}
