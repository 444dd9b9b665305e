//! Readers on kept outputs of the tools: what each says, and that nothing else is believed.

use foreign::{Output, ReadError, adapter};
use record::foreign::ForeignRecord;

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/generators/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(name: &str, stdout: &str, file: Option<&str>) -> Result<ForeignRecord, ReadError> {
    let adapter = adapter(name).expect("an adapter");
    (adapter.read)(&Output { stdout, stderr: "", file })
}

/// Requests, failures, p50, p99 and max in ns.
fn figures(record: &ForeignRecord) -> (u64, u64, Option<u64>, Option<u64>, Option<u64>) {
    let at = |share| record.quantile(share).map(|figure| figure.value_ns);
    let max = record.max.map(|figure| figure.value_ns);
    (record.requests, record.failures, at(0.5), at(0.99), max)
}

#[test]
fn each_tool_is_read_as_it_prints() {
    let wrk = read("wrk", &fixture("wrk.txt"), None).expect("wrk");
    assert_eq!(figures(&wrk), (740, 0, Some(5_220_000), Some(9_130_000), Some(10_080_000)));
    let scripted = read("wrk", &fixture("wrk-script.txt"), None).expect("wrk with the script");
    assert_eq!(figures(&scripted), (2_000, 7, Some(5_218_000), Some(9_130_000), Some(10_080_000)));
    assert!(scripted.quantile(0.9999).is_some());
    assert!(scripted.remarks[0].contains("timeout 2"), "{:?}", scripted.remarks);
    let k6 = read("k6", "", Some(&fixture("k6.json"))).expect("k6");
    assert_eq!(figures(&k6), (677, 0, Some(5_443_754), Some(9_237_199), Some(13_546_808)));
    let h2load =
        read("h2load", &fixture("h2load.txt"), Some(&fixture("h2load.tsv"))).expect("h2load");
    assert_eq!((h2load.requests, h2load.failures), (100, 0));
    assert_eq!(h2load.quantile(0.5).map(|figure| figure.value_ns / 1_000), Some(5_263));
    let hey = read("hey", &fixture("hey.txt"), None).expect("hey");
    assert_eq!(figures(&hey), (670, 3, Some(5_500_000), Some(10_000_000), Some(10_500_000)));
    let ab = read("ab", &fixture("ab.txt"), Some(&fixture("ab.csv"))).expect("ab");
    assert_eq!(figures(&ab), (200, 0, Some(5_231_000), Some(9_104_000), Some(9_105_000)));
    assert_eq!(ab.version.as_deref(), Some("2.3"));
    let siege = read("siege", &fixture("siege.json"), None).expect("siege");
    assert_eq!(figures(&siege), (361, 0, None, None, Some(20_000_000)));
    let locust = read("locust", &fixture("locust.json"), None).expect("locust");
    assert_eq!(figures(&locust), (739, 0, Some(6_000_000), Some(12_000_000), Some(96_278_443)));
}

#[test]
fn tools_that_are_only_read() {
    let vegeta = read("vegeta", &fixture("vegeta.json"), None).expect("vegeta");
    assert_eq!(figures(&vegeta), (5_000, 12, Some(5_205_117), Some(9_120_331), Some(41_502_938)));
    let wrk2 = read("wrk2", &fixture("wrk2.txt"), None).expect("wrk2");
    // The corrected distribution counts, not the one from when requests were sent.
    assert_eq!(
        figures(&wrk2),
        (20_004, 0, Some(5_307_000), Some(1_020_000_000), Some(1_050_000_000))
    );
    let oha = read("oha", &fixture("oha.json"), None).expect("oha");
    assert_eq!(figures(&oha), (737, 4, Some(5_301_234), Some(9_402_118), Some(12_004_511)));
    assert!(oha.remarks[0].contains("aborted"), "{:?}", oha.remarks);
}

#[test]
fn garbage_and_nothing_are_errors_with_a_name() {
    for adapter in foreign::ADAPTERS {
        for text in ["", "  \n", "Segmentation fault", "{}", "[]", "{\"a\": 1}", "\u{0}\u{1}"] {
            let read = (adapter.read)(&Output { stdout: text, stderr: "", file: Some(text) });
            let error = read.expect_err(adapter.name).to_string();
            assert!(error.contains(adapter.name), "{error}");
        }
    }
}

#[test]
fn no_request_is_an_error_and_never_a_zero() {
    let wrk = fixture("wrk.txt").replace("740 requests", "0 requests");
    assert_eq!(read("wrk", &wrk, None), Err(ReadError::NoRequests { adapter: "wrk" }));
    let k6 = fixture("k6.json").replace("677", "0");
    assert_eq!(read("k6", "", Some(&k6)), Err(ReadError::NoRequests { adapter: "k6" }));
    let siege = fixture("siege.json").replace("361", "0");
    assert_eq!(read("siege", &siege, None), Err(ReadError::NoRequests { adapter: "siege" }));
    let ab = fixture("ab.txt").replace("requests:      200", "requests:      0");
    assert_eq!(read("ab", &ab, None), Err(ReadError::NoRequests { adapter: "ab" }));
}

#[test]
fn figures_that_cannot_both_be_true_are_a_contradiction() {
    let wrk = fixture("wrk.txt").replace("99%    9.13ms", "99%    1.13ms");
    let error = read("wrk", &wrk, None).expect_err("falling quantiles").to_string();
    assert!(error.contains("contradicts itself: p90"), "{error}");
    let vegeta = fixture("vegeta.json").replace("\"requests\": 5000", "\"requests\": 50");
    assert!(read("vegeta", &vegeta, None).is_ok(), "fewer successes than requests are failures");
}

#[test]
fn a_command_is_read_by_its_patterns() {
    use record::plan::{Generator, GeneratorKind};
    let generator = |patterns: &[&str]| Generator {
        name: "mine".to_owned(),
        kind: GeneratorKind::Command(vec!["drive".to_owned()]),
        patterns: patterns.iter().map(|pattern| (*pattern).to_owned()).collect(),
        ..Generator::default()
    };
    let text = "warming\nsent 10, failed 0\nsent 400, failed 3\np50=5.2ms p99=0.0091 rate 199.5\n";
    let output = Output { stdout: text, ..Output::default() };
    let patterns = [
        "sent (?<requests>\\d+), failed (?<failures>\\d+)",
        "p50=(?<p50>\\S+) p99=(?<p99_s>\\S+) rate (?<rate>\\S+)",
    ];
    let record = foreign::read(&generator(&patterns), &output).expect("figures");
    // The last match counts.
    assert_eq!(figures(&record), (400, 3, Some(5_200_000), Some(9_100_000), None));
    assert_eq!(record.rate_per_s, Some(199.5));
    let error = foreign::read(&generator(&["total (?<requests>\\d+)"]), &output);
    assert_eq!(
        error.expect_err("no match").to_string(),
        "the output of `command` has no match of `total (?<requests>\\d+)`"
    );
    let error = foreign::read(&generator(&["p50=(?<requests>\\S+)"]), &output);
    assert_eq!(
        error.expect_err("no count").to_string(),
        "`command` printed `5.2ms` as its requests"
    );
}

/// Whatever the bytes, a reader says what it read or why it did not.
#[test]
fn cut_and_mutated_outputs_never_panic() {
    for adapter in foreign::ADAPTERS {
        for name in [
            "wrk.txt",
            "wrk-script.txt",
            "k6.json",
            "h2load.txt",
            "hey.txt",
            "ab.txt",
            "ab.csv",
            "siege.json",
            "locust.json",
            "vegeta.json",
            "wrk2.txt",
            "oha.json",
        ] {
            let whole = fixture(name);
            for cut in (0..=whole.len()).step_by(7).filter(|cut| whole.is_char_boundary(*cut)) {
                let text = &whole[..cut];
                check((adapter.read)(&Output { stdout: text, stderr: "", file: Some(text) }));
            }
            for digit in ['0', '9', '-', '.', '\n', '"'] {
                for at in (0..whole.len()).step_by(11).filter(|at| whole.is_char_boundary(*at)) {
                    let end = whole[at..].chars().next().map_or(at, |c| at + c.len_utf8());
                    let text = format!("{}{digit}{}", &whole[..at], &whole[end..]);
                    check((adapter.read)(&Output { stdout: &text, stderr: "", file: Some(&text) }));
                }
            }
        }
    }
}

fn check(read: Result<ForeignRecord, ReadError>) {
    match read {
        Ok(record) => {
            assert!(record.requests > 0);
            assert!(record.failures <= record.requests);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
