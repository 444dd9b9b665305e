//! Bad input: cut, flipped, mislabelled. An error that names the place or a partial result with
//! a flag; never a panic, never a loop.

use jvm::jfr::{Error, Recording};
use jvm::panels::{Question, digest};

use super::{fixture, open};

/// Every recording of the fixtures.
const ALL: [&str; 12] = [
    "jfr/lab-profile-g1.jfr",
    "jfr/lab-multichunk.jfr",
    "tomcat/tomcat.jfr",
    "jfr/lab-serial.jfr",
    "jfr/lab-soak.jfr",
    "jfr/lab-zgc.jfr",
    "jfr/lab-oldobjects.jfr",
    "jfr/lab-jdk11.jfr",
    "jfr/lab-jdk21-vthreads.jfr",
    "jfr/lab-jdk25-vthreads.jfr",
    "killed/assembled.jfr",
    "async-profiler/async-profiler.jfr",
];

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).expect("a readable fixture")
}

fn own() -> Question {
    Question::default().packages(&["fixture.lab"])
}

#[test]
fn cut_at_two_hundred_places() {
    for name in ALL {
        let whole = bytes(name);
        let mut partial = 0;
        let chunks = Recording::of_bytes("whole", whole.clone()).expect("a recording").chunks;
        let ends: Vec<usize> =
            chunks.iter().map(|chunk| (chunk.offset + chunk.readable_bytes) as usize).collect();
        for place in 0..200 {
            let cut = whole.len() * place / 200;
            match Recording::of_bytes("cut", &whole[..cut]) {
                Ok(recording) => {
                    let digest = digest(&recording, &own());
                    // A cut between two chunks leaves whole ones.
                    let whole_chunks = ends.contains(&cut);
                    assert!(digest.quality.truncated || whole_chunks, "{name} cut at {cut}");
                    assert!(!digest.quality.faults.is_empty() || whole_chunks);
                    partial += u64::from(digest.source.chunks > 0);
                }
                Err(error) => {
                    assert!(cut < 4, "{name} cut at {cut}: {error}");
                }
            }
        }
        // JDK 11 writes its metadata last: nothing is left without them.
        let early = !name.contains("jdk11");
        assert_eq!(partial > 50, early, "{name}: {partial} of 200 cuts gave something");
    }
}

#[test]
fn flipped_bytes_never_panic_and_sums_still_hold() {
    let rounds = if std::env::var_os("ASSAY_LONG").is_some() { 4_000 } else { 60 };
    for name in ALL {
        let whole = bytes(name);
        for seed in 0..rounds {
            let mutant = corpus::mutate(&whole, &[], &[0, 1, 0x7F, 0x80, 0xFF], seed);
            let Ok(recording) = Recording::of_bytes("mutant", mutant) else { continue };
            let digest = digest(&recording, &own());
            if let Some(panel) = &digest.panels.allocation_by_site {
                let sum = panel.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
                assert_eq!(
                    sum.saturating_add(panel.rest_bytes),
                    panel.total_bytes,
                    "{name} {seed}"
                );
            }
        }
    }
}

#[test]
fn what_is_no_recording_is_refused_with_its_place() {
    let message = |name: &str| {
        let error = Recording::open(&fixture(name)).expect_err("no recording");
        assert!(matches!(error, Error::NotARecording { .. }), "{error}");
        let message = error.to_string();
        message[message.find(": no").expect("a file's name comes first")..].to_owned()
    };
    insta::assert_snapshot!(
        message("damaged/text.jfr"),
        @": no flight recording: at offset 0 expected `FLR\\0`, the first bytes of a chunk, found `this is `"
    );
    insta::assert_snapshot!(
        message("damaged/zero-bytes.jfr"),
        @": no flight recording: at offset 0 expected `FLR\\0`, the first bytes of a chunk, found the end of the file"
    );
    insta::assert_snapshot!(
        message("damaged/version-99.jfr"),
        @": no flight recording: at offset 4 expected version 1.x or 2.x of the format, found version 99.1"
    );
    assert!(matches!(Recording::open(&fixture("damaged")), Err(Error::Io { .. })));
}

#[test]
fn damaged_files_give_what_is_left_with_a_flag() {
    for (name, chunks, has_samples) in [
        ("damaged/half-a-header", 0, false),
        ("damaged/header-only", 0, false),
        // Trap 1: never wait for a header to change.
        ("damaged/header-size-zero", 0, false),
        ("damaged/state-255", 0, false),
        ("damaged/truncated-single-chunk", 1, true),
        // The second ends within its metadata.
        ("damaged/truncated-in-second-chunk", 1, true),
    ] {
        let digest = digest(&open(name), &Question::default());
        assert!(digest.quality.truncated, "{name}");
        assert!(!digest.quality.faults.is_empty(), "{name}");
        assert_eq!(digest.source.chunks, chunks, "{name} {:?}", digest.quality.faults);
        let samples = digest.panels.allocation_by_site.map_or(0, |panel| panel.samples);
        assert_eq!(samples > 0, has_samples, "{name}");
    }
}

/// Trap 4: each chunk stands alone.
#[test]
fn the_whole_first_chunk_of_a_file_that_is_cut_in_its_second() {
    let cut = open("damaged/truncated-in-second-chunk");
    let first = Recording::open(&fixture("killed/repository/2026_11_30_09_36_31.jfr"));
    let first = digest(&first.expect("the first chunk"), &own());
    let both = digest(&cut, &own());
    let truth = super::truth_of("killed/repository/2026_11_30_09_36_31");
    let total = |digest: &record::recording::RecordingDigest| {
        digest.panels.allocation_by_site.as_ref().map_or(0, |panel| panel.total_bytes)
    };
    assert_eq!(truth["allocation"]["total_weight"].as_u64(), Some(total(&first)));
    assert!(total(&both) >= total(&first));
    assert!(!first.quality.truncated);
}

#[test]
fn a_repository_says_what_the_assembled_file_says() {
    let assembled = digest(&open("killed/assembled"), &own());
    let recovered = Recording::recover(&fixture("killed/repository")).expect("a repository");
    let recovered = digest(&recovered, &own());
    assert!(recovered.quality.recovered);
    assert_eq!(recovered.source, assembled.source);
    assert_eq!(recovered.panels.allocation_by_site, assembled.panels.allocation_by_site);
    assert_eq!(recovered.panels.hot_methods, assembled.panels.hot_methods);
    assert_eq!(recovered.panels.heap_after_gc, assembled.panels.heap_after_gc);
    assert_eq!(recovered.panels.events, assembled.panels.events);
    assert_eq!(recovered.panels.run.as_ref().map(|run| run.outcome.as_str()), Some("recovered"));
    let empty = tempfile::tempdir().expect("a folder");
    assert!(matches!(Recording::recover(empty.path()), Err(Error::EmptyRepository { .. })));
}

/// Trap 3: an event of size 0 at which others read for ever.
#[test]
fn an_event_of_size_zero_ends_its_chunk_and_no_more() {
    let mut whole = bytes("killed/assembled.jfr");
    let clean = digest(&open("killed/assembled"), &own());
    // The first event of the first chunk.
    whole[68] = 0;
    let recording = Recording::of_bytes("zero", whole).expect("a recording");
    let digest = digest(&recording, &own());
    assert!(digest.quality.truncated);
    assert!(digest.quality.faults.iter().any(|fault| fault.contains("breaks off at offset 68")));
    let samples = |digest: &record::recording::RecordingDigest| {
        digest.panels.allocation_by_site.as_ref().map_or(0, |panel| panel.samples)
    };
    assert!(samples(&digest) > 0);
    assert!(samples(&digest) < samples(&clean));
}

/// A header whose size was overwritten: the next chunk is found by its first bytes.
#[test]
fn the_next_chunk_is_found_behind_a_broken_header() {
    let mut whole = bytes("jfr/lab-multichunk.jfr");
    whole[8..16].copy_from_slice(&u64::MAX.to_be_bytes());
    let recording = Recording::of_bytes("broken", whole).expect("a recording");
    assert_eq!(recording.chunks.len(), open("jfr/lab-multichunk").chunks.len());
}

/// The corpus of the fuzz target `jfr`: chunks made by the writer beside this file
/// (`UPDATE_CORPUS=1` writes them again), each whole, cut at every byte and mutated.
#[test]
fn the_corpus_is_replayed() {
    if std::env::var_os("UPDATE_CORPUS").is_some() {
        write_corpus();
    }
    corpus::replay("jfr", &[0, 1, 2, 3, 4, 5, 0x7F, 0x80, 0xFF], 4, |data, what| {
        let Ok(recording) = Recording::of_bytes("corpus", data) else { return };
        let digest = digest(&recording, &own());
        if let Some(panel) = &digest.panels.allocation_by_site {
            let sum = panel.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
            assert_eq!(sum.saturating_add(panel.rest_bytes), panel.total_bytes, "{what}");
        }
    });
}

fn write_corpus() {
    use super::writer::{Chunk, types};
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/jfr");
    std::fs::create_dir_all(&folder).expect("a folder");
    let write =
        |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("a file");
    let made = |compressed: bool| {
        let mut chunk = Chunk::new(compressed);
        chunk.named(1, "fixture/lab/Shop", "sell");
        chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[300]);
        chunk.allocation(types::IN_TLAB, 300, [0, 1, 1], &[16, 4_096]);
        chunk.pause(400, 1_000);
        chunk.finish()
    };
    write("compressed", &made(true));
    write("uncompressed", &made(false));
    write("two-chunks", &[made(true), made(false)].concat());
    write("header", &made(true)[..68]);
}
