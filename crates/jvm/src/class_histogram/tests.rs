use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("fixture `{}`: {error}", path.display()))
}

fn histogram(name: &str) -> ClassHistogram {
    ClassHistogram::read(&fixture(name)[..]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn read(text: &str) -> ClassHistogram {
    ClassHistogram::read(text.as_bytes()).expect("a histogram")
}

const FILES: [&str; 6] = [
    "heap/heap-live.histogram-before.txt",
    "heap/heap-live.histogram-after.txt",
    "heap/heap-live-wide.histogram-before.txt",
    "heap/heap-live-wide.histogram-after.txt",
    "tomcat/tomcat.histogram-before.txt",
    "tomcat/tomcat.histogram-after.txt",
];

#[test]
fn histograms_agree_with_the_truth() {
    let truth: Value = serde_json::from_slice(&fixture("text.truth.json")).expect("JSON");
    for name in FILES {
        let (histogram, truth) = (histogram(name), &truth[name]);
        assert_eq!(Value::from(histogram.rows.len()), truth["rows"], "{name}");
        assert_eq!(Value::from(histogram.total.instances), truth["instances"], "{name}");
        assert_eq!(Value::from(histogram.total.bytes), truth["bytes"], "{name}");
        let stated = histogram.stated.expect("a total");
        let stated = serde_json::json!([stated.instances, stated.bytes]);
        assert_eq!(stated, truth["total_line"], "{name}");
        for (row, truth) in histogram.rows.iter().zip(truth["top3"].as_array().expect("rows")) {
            let module = row.module.as_ref().map_or(String::new(), |module| format!(" ({module})"));
            let shown = format!("{}{module}", row.class);
            let row = serde_json::json!([shown, row.amount.instances, row.amount.bytes]);
            assert_eq!(row, *truth, "{name}");
        }
        assert_eq!(histogram.remarks(), Vec::<String>::new(), "{name}");
        assert!(!histogram.is_partial(), "{name}");
    }
}

/// The ledger's K-145: the difference names the planted class. 200 sessions were opened between.
#[test]
fn the_planted_class_is_named_and_totals_are_exact() {
    let before = histogram("heap/heap-live.histogram-before.txt");
    let after = histogram("heap/heap-live.histogram-after.txt");
    let difference = before.difference(&after);
    let session =
        difference.rows.iter().find(|row| row.class == "fixture.lab.Leak$Session").expect("leak");
    assert_eq!((session.before.instances, session.after.instances), (300, 500));
    assert_eq!(
        (difference.rows[0].class.as_str(), difference.rows[0].instances_grown()),
        ("[B", 600)
    );
    assert_eq!(difference.rows[0].module.as_deref(), Some("java.base@17.0.15"));
    let grown: i128 = difference.rows.iter().map(Change::bytes_grown).sum();
    let totals = i128::from(after.total.bytes) - i128::from(before.total.bytes);
    assert_eq!(grown, totals, "no class is lost");
    assert!(difference.rows.is_sorted_by_key(|row| -row.bytes_grown()));
    let back = after.difference(&before);
    assert_eq!(back.rows.len(), difference.rows.len());
    assert!(before.difference(&before).rows.is_empty());
}

/// Trap 24: the numbers of lambda classes differ per run, and so does how they are written.
#[test]
fn classes_that_the_jvm_made_up_are_compared_without_their_numbers() {
    let before = read(
        "1: 2 32 a.B$$Lambda$16/0x00007fd500006400\n2: 1 16 a.B$$Lambda$17/0x00007fd500006600\n3: 4 64 a.B\n",
    );
    let after = read("1: 3 48 a.B$$Lambda+0x00007f1234500000 (m@1)\n2: 4 64 a.B\n");
    assert_eq!(before.difference(&after).rows, []);
    for (class, expected) in [
        ("java.lang.invoke.LambdaForm$MH/0x000000080008c000", "java.lang.invoke.LambdaForm$MH"),
        ("a.B$$Lambda/0x01", "a.B$$Lambda"),
        ("a.B$$Lambda$99/1234567", "a.B$$Lambda"),
        ("[La.B$$Lambda$99/1234567;", "[La.B$$Lambda;"),
    ] {
        assert_eq!(comparable(class).as_deref(), Some(expected));
    }
    for class in ["a.B", "[B", "a.B$$LambdaHelper", "[Ljava.lang.Object;"] {
        assert_eq!(comparable(class), None, "{class}");
    }
}

#[test]
fn jdk_8_has_no_modules() {
    let histogram = read(
        "\n num     #instances         #bytes  class name\n\
         ----------------------------------------------\n   \
           1:          5657         841072  [B\n   \
           2:            10            160  java.lang.Object\n\
         Total          5667         841232\n",
    );
    assert_eq!(histogram.rows[1].class, "java.lang.Object");
    assert_eq!(histogram.rows[0].module, None);
    assert!(!histogram.is_partial());
}

#[test]
fn damage_is_named() {
    let name = "heap/heap-live.histogram-after.txt";
    let text = String::from_utf8(fixture(name)).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let remarks = |text: &str| read(text).remarks().join("\n");

    let cut = lines[..100].join("\n");
    let rows = read(&cut).rows.len();
    assert_eq!(
        remarks(&cut),
        format!("no line `Total`: the file was cut after row {rows}; classes are missing")
    );

    let mut gone = lines.clone();
    gone.remove(20);
    let gone = remarks(&gone.join("\n"));
    assert!(
        gone.contains("the line `Total` says") && gone.contains("1 rows do not have"),
        "{gone}"
    );

    let mut strange = lines.clone();
    strange[20] = "  18:   12x  14  a.B";
    let strange = remarks(&strange.join("\n"));
    assert!(strange.contains("1 lines are no rows, the first is line 21"), "{strange}");

    let twice = remarks(&format!("{text}{text}"));
    assert_eq!(twice, "a second histogram follows in the file and was not read");
}

#[test]
fn a_file_that_is_no_histogram_names_what_was_expected_and_found() {
    let error = ClassHistogram::read(&b"12345:\nhello\n"[..]).expect_err("none");
    insta::assert_snapshot!(error, @"expected a class histogram with a row like `1:  5657  841072  [B`, found 2 lines without one; the first: `12345:`. One is written with `jcmd PID GC.class_histogram`");
    assert!(ClassHistogram::read(&b""[..]).is_err());
    assert!(ClassHistogram::read(&fixture("gc/lab-serial.gc.log")[..]).is_err());
    for name in FILES {
        assert!(looks_like(&fixture(name)[..4_096]), "{name}");
    }
    for name in
        ["gc/lab-serial.gc.log", "tomcat/tomcat.thread-print.txt", "async-profiler/cpu.collapsed"]
    {
        assert!(!looks_like(&fixture(name)), "{name}");
    }
}

#[test]
fn cut_and_mutated_histograms_give_what_is_left() {
    let corpus: Vec<Vec<u8>> = FILES.iter().map(|name| fixture(name)).collect();
    for text in &corpus {
        let whole = ClassHistogram::read(&text[..]).expect("a histogram");
        for step in 0..200 {
            let cut = &text[..text.len() * step / 200];
            let Ok(part) = ClassHistogram::read(cut) else { continue };
            assert!(part.is_partial() && !part.remarks().is_empty(), "cut at {step}/200");
            assert!(part.total.instances <= whole.total.instances);
        }
        for seed in 0..100 {
            let mutant = corpus::mutate(&text[..4_000], &corpus, b"0123456789: []()\n", seed);
            let _ = ClassHistogram::read(&mutant[..]);
        }
    }
}

proptest! {
    /// What is written is read again, and a difference sums to the change of the totals.
    #[test]
    fn written_is_read(rows in prop::collection::vec(("[a-zA-Z.$]{1,20}|\\[+[BCIJ]", 0_u64..1 << 40, 0_u64..1 << 50), 1..40)) {
        let mut text = String::new();
        let mut total = Amount::default();
        for (rank, (class, instances, bytes)) in rows.iter().enumerate() {
            text.push_str(&format!("{:4}: {instances:14} {bytes:14}  {class}\n", rank + 1));
            total.add(Amount { instances: *instances, bytes: *bytes });
        }
        text.push_str(&format!("Total {:14} {:14}\n", total.instances, total.bytes));
        let histogram = read(&text);
        prop_assert!(!histogram.is_partial());
        prop_assert_eq!(histogram.rows.len(), rows.len());
        let half = ClassHistogram { rows: histogram.rows[..rows.len() / 2].to_vec(), ..histogram.clone() };
        let sum: i128 = half.difference(&histogram).rows.iter().map(Change::bytes_grown).sum();
        let rest: u64 = histogram.rows[rows.len() / 2..].iter().map(|row| row.amount.bytes).sum();
        prop_assert_eq!(sum, i128::from(rest));
    }
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    corpus::replay("class_histogram", b"0123456789:/$+ []();\n", 4, |data, from| {
        if let Ok(histogram) = ClassHistogram::read(data) {
            assert!(histogram.difference(&histogram).rows.is_empty(), "{from}");
            let _ = histogram.remarks();
        }
    });
}
