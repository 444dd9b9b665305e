use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::naming::Pattern;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("fixture `{}`: {error}", path.display()))
}

fn read(text: &[u8]) -> Collapsed {
    Collapsed::read(text, Options::default()).expect("collapsed stacks")
}

const FILES: [&str; 3] = [
    "async-profiler/alloc-bytes.collapsed",
    "async-profiler/cpu.collapsed",
    "async-profiler/cpu-threads-annotated.collapsed",
];

#[test]
fn stacks_of_async_profiler_agree_with_the_truth() {
    let truth: Value = serde_json::from_slice(&fixture("text.truth.json")).expect("JSON");
    let options = Options { naming: Naming::AsWritten, ..Options::default() };
    for name in FILES {
        let read = Collapsed::read(&fixture(name)[..], options).expect("stacks");
        let (profile, truth) = (&read.profile, &truth[name]);
        assert_eq!(Value::from(read.quality.lines), truth["lines"], "{name}");
        assert_eq!(Value::from(profile.total().weight), truth["total"], "{name}");
        assert_eq!(Value::from(profile.deepest()), truth["deepest"], "{name}");
        for (table, key) in [
            (profile.leaves(), "by_leaf_top10"),
            (profile.inclusive(), "inclusive_once_per_line_top10"),
        ] {
            let expected = truth[key].as_array().expect("rows");
            for row in expected {
                let found = table.rows.get(row[0].as_str().expect("a name")).map(|row| row.weight);
                assert_eq!(found.map(Value::from), Some(row[1].clone()), "{name} {row}");
            }
            // The same ten, but for the order of equal ones.
            let ten: Vec<u64> = table.ranked().iter().take(10).map(|row| row.1.weight).collect();
            let expected: Vec<u64> = expected.iter().filter_map(|row| row[1].as_u64()).collect();
            assert_eq!(ten, expected, "{name} {key}");
        }
        assert_eq!(read.quality.strange_lines, 0);
        assert!(!read.quality.unfinished);
    }
}

/// Marks are stripped, so that a method compiled and inlined is one row: 349 compiled,
/// 322 inlined and 1 interpreted. In the stack it counts once for each sample.
#[test]
fn canonical_names_join_what_marks_split() {
    let annotated = read(&fixture("async-profiler/cpu-threads-annotated.collapsed")).profile;
    let leaves = annotated.leaves();
    assert_eq!(leaves.rows["fixture.lab.Hot.fib(I)I"].weight, 349 + 322 + 1);
    assert_eq!(annotated.inclusive().rows["fixture.lab.Hot.fib(I)I"].weight, 672);
    assert_eq!(leaves.rows["do_syscall_64"].weight, 4);
    assert!(annotated.inclusive().rows.contains_key("[DestroyJavaVM tid=11773]"));
}

#[test]
fn bytes_are_told_from_the_leaves() {
    let bytes = read(&fixture("async-profiler/alloc-bytes.collapsed")).profile;
    assert_eq!((bytes.unit, bytes.total().samples), (Unit::Bytes, 0));
    let sites = bytes.sites(&[Pattern::new("fixture/lab")]);
    assert_eq!(sites.rows["fixture.lab.Churn.wide"].weight, 1_614_675_968);
    assert_eq!(bytes.leaves().rows["[B"].weight, 1_643_905_024);
    let cpu = read(&fixture("async-profiler/cpu.collapsed")).profile;
    assert_eq!((cpu.unit, cpu.total().samples), (Unit::Samples, 1_111));
    let said = Options { unit: Some(Unit::Samples), ..Options::default() };
    let said = Collapsed::read(&fixture(FILES[0])[..], said).expect("stacks").profile;
    assert_eq!(said.unit, Unit::Samples);
}

/// The ledger's W-030: the weight is what follows the last blank.
#[test]
fn blanks_semicolons_and_weights() {
    let read = read(
        b"# a comment\n\
          [pool 1 thread 2 tid=12];a/B.m;new_type_array Runtime1 stub 3\n\
          [blocked; on shared tid=26];a/B.m 4  \n\
          [no end; here;a/B.m 5\r\n\
          a/B.m;;a/C.n 6\n\
          \n\
          a/B.m\t7\n\
          ;lead 8\n \
           9\n\
          a/B.m 18446744073709551615\n",
    );
    assert_eq!(read.quality, Quality { lines: 10, stacks: 8, ..Quality::default() });
    let leaves = read.profile.leaves();
    let weight = |name: &str| leaves.rows.get(name).map(|row| row.weight);
    assert_eq!(weight("new_type_array Runtime1 stub"), Some(3));
    assert_eq!(weight("a.C.n"), Some(6));
    assert_eq!(weight("lead"), Some(8));
    assert_eq!(weight("a.B.m"), Some(u64::MAX), "a sum that does not fit stays at the largest");
    let inclusive = read.profile.inclusive();
    assert_eq!(inclusive.rows["[blocked; on shared tid=26]"].weight, 4);
    assert_eq!(inclusive.rows["here"].weight, 5, "not a thread's name: it has no number");
}

#[test]
fn strange_lines_are_counted_and_the_first_is_named() {
    let text =
        b"a;b 1\nnonsense\na;b x1\na;b -3\na;c 99999999999999999999\na;c 2\na;d 3\na;e 4\na;f 5\n";
    let read = read(text);
    assert_eq!(
        read.quality,
        Quality {
            lines: 9,
            stacks: 5,
            strange_lines: 4,
            first_strange_line: Some(2),
            ..Quality::default()
        }
    );
    assert_eq!(read.profile.total().weight, 15);
}

#[test]
fn a_file_that_is_none_names_line_expected_and_found() {
    let error = |text: &[u8]| {
        Collapsed::read(text, Options::default()).map(|_| ()).expect_err("no stacks").to_string()
    };
    insta::assert_snapshot!(error(b"a;b 1\nhello\nworld\n"), @"line 2: expected collapsed stacks, `frame;frame;frame 12`, found `hello` (1 of 3 lines are stacks). async-profiler writes them with `-o collapsed`");
    insta::assert_snapshot!(error(b""), @"line 0: expected collapsed stacks, `frame;frame;frame 12`, found `` (0 of 0 lines are stacks). async-profiler writes them with `-o collapsed`");
    error(&fixture("gc/lab-serial.gc.log"));
    error(&fixture("tomcat/tomcat.thread-print.txt"));
    for name in FILES {
        assert!(looks_like(&fixture(name)[..30_000.min(fixture(name).len())]), "{name}");
    }
    for name in [
        "gc/lab-serial.gc.log",
        "heap/heap-live.histogram-after.txt",
        "tomcat/tomcat.thread-print.txt",
    ] {
        assert!(!looks_like(&fixture(name)), "{name}");
    }
}

#[test]
fn a_last_line_that_is_no_stack_was_cut() {
    let quality = |text: &[u8]| {
        let Quality { stacks, strange_lines, unfinished, cut, .. } = read(text).quality;
        (stacks, strange_lines, unfinished, cut)
    };
    assert_eq!(quality(b"a;b 1\na;c 2\n"), (2, 0, false, false));
    assert_eq!(quality(b"a;b 1\na;c 2"), (2, 0, true, false));
    assert_eq!(quality(b"a;b 1\na;c"), (1, 0, true, true));
}

#[test]
fn a_line_beyond_the_bound_is_passed_over() {
    let mut text = b"a;b 1\n".to_vec();
    for _ in 0..2 {
        text.extend(std::iter::repeat_n(b'x', LINE_BYTES + 1));
        text.extend_from_slice(b" 7\na;b 2\na;b 3\n");
    }
    for capacity in [16, 4_096, 4 * LINE_BYTES] {
        let input = io::BufReader::with_capacity(capacity, &text[..]);
        let read = Collapsed::read(input, Options::default()).expect("stacks");
        assert_eq!((read.profile.total().weight, read.quality.strange_lines), (11, 2));
        assert_eq!(read.quality.first_strange_line, Some(2));
    }
}

#[test]
fn cut_and_mutated_files_give_what_is_left() {
    let corpus: Vec<Vec<u8>> = FILES.iter().map(|name| fixture(name)).collect();
    for text in &corpus {
        let whole = read(text).profile.total().weight;
        for step in 1..200 {
            let cut = &text[..text.len() * step / 200];
            let Ok(part) = Collapsed::read(cut, Options::default()) else { continue };
            assert!(part.profile.total().weight <= whole);
            assert_eq!(part.quality.unfinished, !cut.ends_with(b"\n"));
        }
        for seed in 0..100 {
            let mutant = corpus::mutate(&text[..6_000], &corpus, b"; \n_[j]0123456789\t", seed);
            let _ = Collapsed::read(&mutant[..], Options::default());
        }
    }
}

proptest! {
    /// Whatever the order and the pieces that the bytes come in, the same stacks are read, as by a
    /// reader of three lines.
    #[test]
    fn as_a_simple_reader_does(
        lines in prop::collection::vec(("[ab;]{0,12}|aaaaaaaa[ab;]{0,12}|\\[t; tid=1\\];[ab]", 0_u64..50), 1..40),
        capacity in 1_usize..40,
    ) {
        let mut text = String::new();
        let mut expected = std::collections::BTreeMap::<Vec<&str>, u64>::new();
        for (stack, weight) in &lines {
            text.push_str(&format!("{stack} {weight}\n"));
            let mut frames: Vec<&str> = match stack.strip_prefix("[t; tid=1];") {
                Some(rest) => [&stack[..10]].into_iter().chain(rest.split(';')).collect(),
                None => stack.split(';').collect(),
            };
            frames.retain(|frame| !frame.is_empty());
            if frames.is_empty() {
                frames.push("(no stack)");
            }
            *expected.entry(frames).or_default() += weight;
        }
        expected.retain(|_, weight| *weight > 0);
        let input = io::BufReader::with_capacity(capacity, text.as_bytes());
        let read = Collapsed::read(input, Options::default()).expect("stacks");
        let mut found = std::collections::BTreeMap::new();
        for (stack, figure) in read.profile.stacks() {
            let mut frames: Vec<String> = stack.map(|frame| read.profile.name_of_frame(frame).into_owned()).collect();
            frames.reverse();
            found.insert(frames, figure.weight);
        }
        let expected: std::collections::BTreeMap<Vec<String>, u64> = expected
            .into_iter()
            .map(|(frames, weight)| (frames.into_iter().map(str::to_owned).collect(), weight))
            .collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    corpus::replay("collapsed", b"; \n_[j]0123456789/.$\t", 5, |data, from| {
        let Ok(whole) = Collapsed::read(data, Options::default()) else { return };
        let pieces = io::BufReader::with_capacity(5, data);
        let pieces = Collapsed::read(pieces, Options::default()).expect("read as a whole");
        assert_eq!(whole.quality, pieces.quality, "{from}");
        let leaves = whole.profile.leaves();
        assert_eq!(leaves, pieces.profile.leaves(), "{from}");
        let sum = leaves.rows.values().fold(0_u64, |sum, row| sum.saturating_add(row.weight));
        assert_eq!(sum, whole.profile.total().weight, "{from}");
    });
}
