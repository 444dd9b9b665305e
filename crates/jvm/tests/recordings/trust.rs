//! When a number may be believed, and how it is said when not: each rule with the fault planted,
//! and the same recording without it.

use jvm::jfr::Recording;
use jvm::panels::{OWN, Question, digest, suppress_unstable};
use record::recording::{Methods, RecordingDigest};

use super::digest_of;
use super::writer::{Chunk, types};

fn read(chunk: Chunk, question: &Question) -> RecordingDigest {
    digest(&Recording::of_bytes("made", chunk.finish()).expect("a recording"), question)
}

fn methods(chunk: Chunk, question: &Question) -> Methods {
    read(chunk, question).panels.hot_methods.expect("samples")
}

fn own() -> Question {
    Question::default().packages(&["org.acme"])
}

fn has(notes: &[String], part: &str) -> bool {
    notes.iter().any(|note| note.contains(part))
}

/// Ten seconds at the load of one of two processors, with a period of 20 ms: 500 samples.
#[test]
fn samples_are_held_against_those_that_cpu_time_would_give() {
    let with = |samples| {
        let mut chunk = Chunk::new(true).lasting(10_000_000_000);
        chunk.cpu(2, [0.375, 0.125]);
        chunk.setting(types::EXECUTION, "period", "20 ms");
        chunk.stack(1, &[("org/acme/Shop", "sell")]);
        chunk.executions(1, 1, samples);
        methods(chunk, &own())
    };
    let (few, most) = (with(100), with(450));
    assert_eq!((few.expected_samples, most.expected_samples), (Some(500), Some(500)));
    assert!(has(&few.notes, "100 samples where the CPU time of the process would give 500"));
    assert!(!has(&most.notes, "would give"));
}

/// The JVM looks at five Java threads a period: a sixth one waits for its turn.
#[test]
fn more_threads_than_a_period_can_see_make_shares_of_seconds() {
    let with = |threads| {
        let mut chunk = Chunk::new(true);
        chunk.stack(1, &[("org/acme/Shop", "sell")]);
        for thread in 1..=threads {
            chunk.thread(thread, &format!("worker-{thread}"));
            chunk.executions(thread, 1, 10);
        }
        methods(chunk, &own()).notes
    };
    assert!(has(&with(6), "6 threads were sampled, and the JVM looks at 5 of them"));
    assert!(!has(&with(5), "threads were sampled"));
}

#[test]
fn a_trivial_leaf_asks_for_a_proof() {
    let with = |class, method| {
        let mut chunk = Chunk::new(true);
        chunk.stack(1, &[(class, method), ("org/acme/Shop", "sell")]);
        chunk.executions(1, 1, 30);
        methods(chunk, &own()).notes
    };
    let notes = with("java/lang/Enum", "ordinal");
    assert!(has(&notes, "java.lang.Enum.ordinal is a trivial leaf"), "{notes:?}");
    assert!(has(&notes, "compare two runs, one without it"));
    assert!(has(&with("org/acme/Item", "getPrice"), "trivial leaf"));
    assert!(!has(&with("org/acme/Item", "price"), "trivial leaf"));
    // Nobody's accessor: `getaway` only starts like one.
    assert!(!has(&with("org/acme/Item", "getaway"), "trivial leaf"));
}

/// A short run is class loading; the same loading in a long one is nothing.
#[test]
fn warm_up_dominates_a_short_run_and_not_a_long_one() {
    let with = |working| {
        let mut chunk = Chunk::new(true);
        chunk.stack(1, &[("java/util/zip/Inflater", "inflate"), ("java/lang/ClassLoader", "load")]);
        chunk.stack(2, &[("org/acme/Shop", "sell")]);
        chunk.thread(9, "C2 CompilerThread0");
        chunk.executions(1, 1, 30);
        chunk.executions(9, 2, 10);
        chunk.executions(1, 2, working);
        read(chunk, &own()).panels.warm_up.expect("a panel")
    };
    let (short, long) = (with(60), with(1_960));
    assert_eq!((short.samples, short.sample_share), (40, 0.4));
    assert_eq!((long.samples, long.sample_share), (40, 0.02));
    assert!(short.warning.is_some_and(|warning| warning.contains("40 % of all")));
    assert_eq!(long.warning, None);
}

/// Own code that is 20 frames deep is there at the depth of 30 and not at that of five.
#[test]
fn packages_are_seen_as_deep_as_was_asked() {
    let with = |depth, exclusive| {
        let mut frames = vec![("java/util/HashMap", "resize"); 20];
        frames.push(("org/acme/Shop", "sell"));
        let mut chunk = Chunk::new(true);
        chunk.stack(1, &frames);
        chunk.stack(2, &[("org/acme/Till", "sum"), ("org/acme/Till", "sum")]);
        chunk.executions(1, 1, 30);
        chunk.executions(1, 2, 10);
        let mut question = own();
        (question.depth, question.exclusive) = (depth, exclusive);
        read(chunk, &question).panels.packages.expect("packages")
    };
    let rows = |panel: &record::recording::Packages| -> Vec<(String, u64)> {
        panel.rows.iter().map(|row| (row.name.clone(), row.samples)).collect()
    };
    let row = |name: &str, samples| (name.to_owned(), samples);
    let deep = with(64, false);
    // Each package once per sample, however often it stands in the stack.
    assert_eq!(rows(&deep), [row("org.acme", 40), row("java.util", 30)]);
    assert_eq!((deep.depth, deep.mode.as_str(), deep.truncated_samples), (64, "inclusive", 0));
    let shallow = with(5, false);
    assert_eq!(rows(&shallow), [row("java.util", 30), row("org.acme", 10)]);
    assert_eq!(shallow.depth, 5);
    let exclusive = with(64, true);
    assert_eq!(exclusive.mode, "exclusive");
    assert_eq!(exclusive.rows.iter().map(|row| row.samples).sum::<u64>(), exclusive.samples);
}

/// Own code at 7.9 and 8.1 % against a band up to 8 %, and a package beside its band.
#[test]
fn bands_say_where_a_share_lies() {
    let with = |own_samples| {
        let mut chunk = Chunk::new(true);
        chunk.stack(1, &[("java/util/HashMap", "get"), ("org/acme/Shop", "sell")]);
        chunk.stack(2, &[("java/util/HashMap", "get")]);
        chunk.executions(1, 1, own_samples);
        chunk.executions(1, 2, 1_000 - own_samples);
        let mut question = own();
        question.bands = vec![(OWN.to_owned(), 0.0, 0.08), ("java.util".to_owned(), 0.35, 0.40)];
        let panels = read(chunk, &question).panels;
        let bands = panels.packages.expect("packages").bands;
        (bands[0].verdict.clone(), bands[1].verdict.clone(), bands[1].share)
    };
    assert_eq!(with(79), ("within".to_owned(), "above".to_owned(), 1.0));
    assert_eq!(with(81), ("above".to_owned(), "above".to_owned(), 1.0));
}

/// Pauses per second against a band, and a frequency that doubles.
#[test]
fn pauses_are_rated_and_their_trend_is_named() {
    let with = |second_half: u64| {
        let mut chunk = Chunk::new(true).lasting(10_000_000_000);
        for at in 0..15 {
            chunk.pause(100 + at * 300_000_000, 1_000);
        }
        for at in 0..second_half {
            chunk.pause(5_000_000_100 + at * 4_900_000_000 / second_half, 1_000);
        }
        let mut question = own();
        question.gc_rate_per_s = Some([0.0, 4.0]);
        read(chunk, &question).panels.gc_pauses.expect("pauses")
    };
    let (even, doubled) = (with(15), with(30));
    assert_eq!((even.halves, doubled.halves), ([15, 15], [15, 30]));
    assert_eq!(even.trend, "even");
    assert!(doubled.trend.contains("allocation pressure, not retention"), "{}", doubled.trend);
    assert_eq!(even.rate_band.expect("a band").verdict, "within");
    assert_eq!(doubled.rate_band.expect("a band").verdict, "above");
    assert_eq!((even.count, even.rate_per_s, even.sum_ns), (30, 3.0, 30_000));
}

/// The collector's CPU time falls and its share rises: both are told.
#[test]
fn the_collectors_cpu_is_told_in_ms_and_as_a_share() {
    let with = |load, user_ns| {
        let mut chunk = Chunk::new(true).lasting(1_000_000_000);
        chunk.cpu(1, [load, 0.0]);
        chunk.pause(200, 1_000);
        chunk.gc_cpu(user_ns, 10_000_000);
        let panel = read(chunk, &own()).panels.gc_pauses.expect("pauses");
        (panel.cpu_ns, panel.cpu_share.map(|share| (share * 1_000.0).round()))
    };
    assert_eq!(with(1.0, 90_000_000), (Some(100_000_000), Some(100.0)));
    assert_eq!(with(0.5, 70_000_000), (Some(80_000_000), Some(160.0)));
    let none = digest_of("jfr/lab-jdk11", &own()).panels.gc_pauses.expect("pauses");
    assert_eq!((none.cpu_ns, none.cpu_share), (None, None));
}

/// One thread in a tight loop: the total holds between two runs and the first site does not.
#[test]
fn an_unstable_ranking_is_suppressed_and_its_total_is_not() {
    let with = |[first, second]: [u64; 2], threads: u64| {
        let mut chunk = Chunk::new(true);
        chunk.named(1, "org/acme/Shop", "sell");
        chunk.named(2, "org/acme/Till", "sum");
        for thread in 1..=threads {
            chunk.thread(thread, &format!("worker-{thread}"));
            chunk.allocation(types::SAMPLE, 200, [thread, 1, 1], &[first / threads]);
            chunk.allocation(types::SAMPLE, 300, [thread, 2, 2], &[second / threads]);
        }
        read(chunk, &own())
    };
    let suppressed = |a: [u64; 2], b: [u64; 2], threads| {
        let (mut a, mut b) = (with(a, threads), with(b, threads));
        suppress_unstable(&mut [&mut a, &mut b]);
        let panel = a.panels.allocation_by_site.expect("sites");
        (panel.suppressed, panel.total_bytes, panel.notes.len())
    };
    let (reason, total, notes) = suppressed([5_500, 4_500], [4_000, 6_050], 1);
    let reason = reason.expect("no ranking");
    assert!(reason.contains("55 % of the bytes here and 40 % in another"), "{reason}");
    assert_eq!((total, notes), (10_000, 1));
    // They agree; the totals differ, so the work did; four threads, so it is no such loop.
    assert_eq!(suppressed([5_500, 4_500], [5_400, 4_700], 1).0, None);
    assert_eq!(suppressed([5_500, 4_500], [2_000, 6_000], 1).0, None);
    assert_eq!(suppressed([5_600, 4_400], [4_000, 6_000], 4), (None, 10_000, 0));
}

/// What was not recorded is absent with the reason, for the question as for the page.
#[test]
fn a_question_to_an_absent_panel_says_why() {
    use jvm::panels::{Subject, drill};
    let made = |enabled: &str| {
        let mut chunk = Chunk::new(true);
        chunk.setting(types::SAMPLE, "enabled", enabled);
        chunk.pause(200, 1_000);
        Recording::of_bytes("soak", chunk.finish()).expect("a recording")
    };
    let off = made("false");
    let absent = digest(&off, &own()).absent;
    let reason = absent.iter().find(|absent| absent.panel == "allocation_by_site");
    let reason = &reason.expect("absent").reason;
    assert!(reason.starts_with("not recorded: jdk.ObjectAllocationSample"), "{reason}");
    assert!(reason.ends_with("was switched off"), "{reason}");
    let error = drill(&off, &own(), Subject::Allocations).expect_err("no answer");
    assert_eq!(error.to_string(), format!("allocations: {reason}"));
    // Switched on, and nothing happened: an answer of nothing.
    let on = made("true");
    assert!(digest(&on, &own()).absent.iter().all(|it| it.panel != "allocation_by_site"));
    assert_eq!(drill(&on, &own(), Subject::Allocations).expect("an answer").total, 0);
}

/// Each way in which a recording can end has its word.
#[test]
fn the_outcome_is_a_word() {
    for (name, word) in [
        ("jfr/lab-serial", "complete"),
        ("killed/assembled", "unfinished"),
        ("damaged/truncated-single-chunk", "truncated"),
    ] {
        let run = digest_of(name, &own()).panels.run.expect("a run");
        assert_eq!(run.outcome, word, "{name}");
        // Known to a run directory alone; said to be unknown, not left out.
        assert_eq!((run.ended, run.build), (None, None));
    }
}
