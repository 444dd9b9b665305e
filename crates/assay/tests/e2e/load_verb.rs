//! `assay load`: the request that was asked for, how many of them, and the files that it leaves.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use record::load::LoadRecord;
use rustix::process::Signal;

use crate::support::{Lab, Ran};

fn record(ran: Ran) -> LoadRecord {
    let ran = ran.expect_one_of(&[0, 3]);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

/// A server for one connection that answers each request and gives back the first as it came.
fn one_connection() -> (String, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/here?a=b", listener.local_addr().expect("an address"));
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let (mut first, mut bytes) = (String::new(), [0; 4096]);
        loop {
            match stream.read(&mut bytes) {
                Ok(0) | Err(_) => return first,
                Ok(read) => {
                    if first.is_empty() {
                        first = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    }
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err()
                    {
                        return first;
                    }
                }
            }
        }
    });
    (url, served)
}

#[test]
fn a_request_has_the_method_the_headers_and_the_body_that_were_asked_for() {
    let lab = Lab::new();
    lab.write("body.json", "{\"a\": 1}");
    let (url, served) = one_connection();
    let arguments = [
        "load",
        &url,
        "-n",
        "3",
        "-c",
        "1",
        "--warmup",
        "0s",
        "-H",
        "Accept: text/x",
        "-H",
        "X-One:2",
        "-b",
        "@body.json",
        "--json",
        "-",
    ];
    let load = record(lab.assay(&arguments));
    assert_eq!((load.due, load.succeeded, load.window_asked_count), (3, 3, Some(3)));
    let request = served.join().expect("the server");
    assert!(request.starts_with("POST /here?a=b HTTP/1.1\r\n"), "{request}");
    for line in ["Accept: text/x\r\n", "X-One: 2\r\n", "Content-Length: 8\r\n"] {
        assert!(request.contains(line), "{line} in {request}");
    }
    assert!(request.ends_with("\r\n\r\n{\"a\": 1}"), "{request}");

    let (url, served) = one_connection();
    lab.assay(&["load", &url, "-n", "1", "-c", "1", "--warmup", "0s", "-X", "delete"])
        .expect_one_of(&[0, 3]);
    assert!(served.join().expect("the server").starts_with("DELETE /here"));

    for (wrong, words) in [
        (vec!["-X", "FETCH"], "`FETCH` is no method; one of `GET`"),
        (vec!["-H", "no colon"], "`no colon` is no header; write `Accept: text/html`"),
        (vec!["-H", "a b: c"], "`a b` is no header name"),
        (vec!["-H", "Connection: close"], "is written by assay itself"),
        (vec!["-b", "@nowhere"], "cannot read the body from `nowhere`"),
        (vec!["-n", "5", "-d", "1s"], "cannot be used with"),
        (vec!["-n", "0"], "0 is not in 1.."),
    ] {
        let ran = lab.assay(&[&["load", "http://127.0.0.1:1/"][..], &wrong].concat()).expect(2);
        assert!(ran.stderr.contains(words), "{wrong:?}: {}", ran.stderr);
    }
}

/// a limit for each address, met from one and from five.
#[test]
fn a_limit_for_each_address_is_met_as_by_so_many_clients() {
    let lab = Lab::new();
    let served_from = |sources: &[&str]| {
        let mock = lab.spawn(&["mock", "--rate-limit", "10/h"]);
        let url = crate::cli::listening(&mock);
        let base = ["load", &url, "-c", "5", "-n", "500", "--warmup", "0s", "--json", "-"];
        let load = record(lab.assay(&[&base[..], sources].concat()));
        mock.signal(Signal::TERM);
        mock.finish().expect(0);
        let limited = load.statuses.get(&429).copied().unwrap_or(0);
        assert_eq!((load.due, load.succeeded + limited), (500, 500));
        (load.succeeded, load.connections.sources)
    };
    assert_eq!(served_from(&[]), (10, 0));
    assert_eq!(served_from(&["--source", "127.0.0.2-127.0.0.6"]), (50, 5));
    assert_eq!(served_from(&["--source", "127.0.0.9", "--source", "127.0.3.0/30"]), (30, 3));
    for (wrong, words) in [
        ("127.0.0.9-127.0.0.2", "names no addresses; write `127.0.0.2`"),
        ("192.0.2.1", "no connection can come from 192.0.2.1"),
        ("::1", "no connection can come from ::1: 127.0.0.1 is of another family"),
    ] {
        let ran = lab.assay(&["load", "http://127.0.0.1:1/", "--source", wrong]).expect(2);
        assert!(ran.stderr.contains(words), "{wrong}: {}", ran.stderr);
    }
}

/// Each file has every request of the window, and is readable on its own.
#[test]
fn the_files_of_a_load_hold_what_its_record_holds() {
    let lab = Lab::new();
    let mock = lab.spawn(&["mock", "--latency", "2ms", "--fail", "10%:status=503"]);
    let url = crate::cli::listening(&mock);
    let load = record(lab.assay(&[
        "load",
        &url,
        "-c",
        "2",
        "-d",
        "2s",
        "--warmup",
        "0s",
        "--csv",
        "load.csv",
        "--hdr",
        "load.hlog",
        "--openmetrics",
        "load.om",
        "--json",
        "-",
    ]));
    mock.signal(Signal::TERM);
    mock.finish().expect(0);
    // M-018: every answer by its code, so that one bad one in many is there.
    assert_eq!(load.statuses, [(200, load.succeeded), (503, load.failed)].into());
    let read = |name: &str| std::fs::read_to_string(lab.path().join(name)).expect("a file");

    let csv = read("load.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("second,sent,succeeded,failed,p50_ns,p90_ns,p99_ns,max_ns"));
    let rows: Vec<Vec<u64>> =
        lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap_or(0)).collect()).collect();
    let sum = |column: usize| rows.iter().map(|row| row[column]).sum::<u64>();
    assert_eq!((rows.len(), rows[1][0]), (load.series.len(), 1));
    assert_eq!((sum(2), sum(3)), (load.succeeded, load.failed));
    assert!(rows[0][4] >= 2_000_000, "{csv}");

    let log = read("load.hlog");
    assert!(log.contains("#[Histogram log format version 1.3]\n#[StartTime: "), "{log}");
    let histograms: Vec<&str> = log
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.rsplit(',').next().unwrap_or_default())
        .collect();
    assert!(histograms.iter().all(|text| text.starts_with("HISTFAAA")), "{log}");
    let counted: u64 = histograms
        .iter()
        .map(|text| stats::histogram::decode(text).expect("a histogram").len())
        .sum();
    assert_eq!(counted, load.succeeded);

    let metrics = read("load.om");
    assert!(metrics.ends_with("# EOF\n"), "{metrics}");
    for line in [
        format!("assay_requests_total{{outcome=\"succeeded\"}} {}", load.succeeded),
        format!("assay_requests_total{{outcome=\"failed\"}} {}", load.failed),
        // One in ten failed: nothing of it is quoted as valid.
        "assay_valid{family=\"throughput\"} 0".to_owned(),
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line} in {metrics}");
    }
    assert!(!metrics.contains("assay_throughput_per_second "), "{metrics}");
    let said = lab.assay(&["load", &url, "--csv", "no/such/folder.csv"]).expect(2).stderr;
    assert!(said.contains("cannot write `no/such/folder.csv`: no folder `no/such`"), "{said}");
}
