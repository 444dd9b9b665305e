//! Traps that other readers of recordings fell into, by their number in the list of them; each
//! has a test that fails for a reader that falls into it.
//!
//! | trap | what it is | test |
//! |---|---|---|
//! | 1 | a header of size 0 is waited for | `damage::damaged_files_give_what_is_left_with_a_flag` |
//! | 2 | chunks in the making | [`a_chunk_in_the_making_is_skipped_and_the_others_count`] |
//! | 3 | an event of size 0 | `damage::an_event_of_size_zero_ends_its_chunk_and_no_more` |
//! | 4 | one bad chunk costs all | `damage::the_whole_first_chunk_of_a_file_that_is_cut_in_its_second` |
//! | 5 | padded sizes | `large::a_padded_size_beyond_two_to_the_28` |
//! | 6 | pools beyond 2^28 bytes | [`a_pool_beyond_its_chunk_names_the_bug`] |
//! | 7, 8 | ids of 64 bits, merged pools | [`pools_are_merged_over_checkpoints_and_ids_have_64_bits`] |
//! | 9 | ids that nothing defines | [`an_unresolved_id_keeps_its_weight`] |
//! | 10, 12 | empty pools, all kinds of field | [`empty_pools_and_unknown_events_are_legal`] |
//! | 11 | encodings of texts | [`every_encoding_of_a_text_is_a_name`] |
//! | 13 | chunks of more than 4 GiB | `large::a_chunk_of_five_gib` |
//! | 14 | memory follows the file | [`a_stack_is_kept_once_however_many_events_name_it`] |
//! | 15 | classes many times in the pool | [`names_are_one_row_whatever_their_ids`] |
//! | 16 | heavy first samples | [`heavy_first_samples_are_flagged`] |
//! | 17, 18 | what a weight is | [`allocation_is_never_counted_twice`] |
//! | 19 | five threads a period | `trust::more_threads_than_a_period_can_see_make_shares_of_seconds` |
//! | 20, 21 | three kinds of sample | [`kinds_of_samples_stay_apart`] |
//! | 22 | virtual threads | [`virtual_threads_are_named_and_warned_of`] |
//! | 23, 28 | cut stacks, recursion | [`cut_stacks_and_recursion`] |
//! | 24 | hidden classes | [`lambdas_belong_to_their_hosts`] |
//! | 25 | a clock for each chunk | [`each_chunk_has_its_own_clock`] |
//! | 26 | allocator, not holder | [`old_objects_say_what_they_do_not_know`] |
//! | 27 | before and after a collection | [`the_collector_is_named`], `truth::every_number_of_the_truth` |
//! | 29 | private content | [`nothing_private_is_told`] |

use jvm::jfr::Recording;
use jvm::panels::{Question, Subject, digest, drill};
use record::recording::{Allocation, RecordingDigest};

use super::writer::{Chunk, types};
use super::{digest_of, open};

fn own() -> Question {
    Question::default().packages(&["fixture.lab"])
}

fn read(bytes: Vec<u8>) -> RecordingDigest {
    digest(&Recording::of_bytes("made", bytes).expect("a recording"), &Question::default())
}

fn sites(digest: &RecordingDigest) -> Vec<(String, u64)> {
    let panel: &Allocation = digest.panels.allocation_by_site.as_ref().expect("sites");
    panel.rows.iter().map(|row| (row.name.clone(), row.bytes)).collect()
}

/// Uncompressed integers, and 5: sizes are what they are.
#[test]
fn compressed_and_uncompressed_integers_say_the_same() {
    let [packed, plain] = [true, false].map(|compressed| {
        let mut chunk = Chunk::new(compressed);
        chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[300]);
        chunk.allocation(types::SAMPLE, 300, [0, 1, 1], &[u64::from(u32::MAX) * 4]);
        chunk.named(1, "org/acme/Shop", "sell");
        read(chunk.finish())
    });
    assert_eq!(sites(&packed), [("org.acme.Shop.sell".to_owned(), 300 + u64::from(u32::MAX) * 4)]);
    assert_eq!(packed.panels, plain.panels);
}

/// 6: a pool that reaches beyond the end of a whole chunk is told with the JDK and the bug.
#[test]
fn a_pool_beyond_its_chunk_names_the_bug() {
    let broken = |kind: u64| {
        let mut chunk = Chunk::new(false);
        chunk.named(1, "org/acme/Shop", "sell");
        chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[10]);
        let before = chunk.finish();
        // One more event behind the metadata, of which the size says more than there is.
        let mut bytes = before.clone();
        bytes.extend(u32::MAX.to_be_bytes());
        bytes.extend(kind.to_be_bytes());
        bytes.extend([0; 20]);
        let size = (bytes.len() as u64).to_be_bytes();
        bytes[8..16].copy_from_slice(&size);
        read(bytes)
    };
    let pool = broken(1);
    assert!(pool.quality.truncated);
    let named = |digest: &RecordingDigest| {
        digest.quality.faults.iter().any(|fault| {
            fault.contains("JDK-8298129") && fault.contains("written by JDK of unknown version")
        })
    };
    assert!(named(&pool), "{:?}", pool.quality.faults);
    // What came before it counts.
    assert_eq!(sites(&pool), [("org.acme.Shop.sell".to_owned(), 10)]);
    let other = broken(777);
    assert!(other.quality.truncated);
    assert!(!named(&other), "{:?}", other.quality.faults);
}

/// 7: ids of more than 32 bits. 8: a type in several checkpoints: later ones add, never replace.
#[test]
fn pools_are_merged_over_checkpoints_and_ids_have_64_bits() {
    let far = 1 << 60;
    let mut chunk = Chunk::new(true);
    chunk.named(1, "org/acme/First", "a");
    chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[10]);
    chunk.allocation(types::SAMPLE, 200, [0, far, far], &[20]);
    chunk.allocation(types::SAMPLE, 200, [0, 1 << 28, 1 << 28], &[5]);
    chunk.named(far, "org/acme/Far", "b");
    chunk.named(1 << 28, "org/acme/Near", "c");
    let digest = read(chunk.finish());
    assert_eq!(digest.quality.unresolved_ids, 0);
    let expected = [("org.acme.Far.b", 20), ("org.acme.First.a", 10), ("org.acme.Near.c", 5)];
    assert_eq!(sites(&digest), expected.map(|(name, bytes)| (name.to_owned(), bytes)));
}

/// 9: an id that nothing defines is "(no stack trace)", its weight kept and the id counted.
#[test]
fn an_unresolved_id_keeps_its_weight() {
    let mut chunk = Chunk::new(true);
    chunk.allocation(types::SAMPLE, 200, [0, 99, 98], &[40]);
    let digest = read(chunk.finish());
    assert_eq!(sites(&digest), [("(no stack trace)".to_owned(), 40)]);
    // The stack and the class; the ids 0 of no thread are none.
    assert_eq!(digest.quality.unresolved_ids, 2);
    let by_type = digest.panels.allocation_by_type.expect("types");
    assert_eq!((by_type.rows[0].name.as_str(), by_type.rows[0].bytes), ("(unresolved)", 40));
}

/// 10: pools may be empty. 12: fields of every kind, and events that nobody asked for.
#[test]
fn empty_pools_and_unknown_events_are_legal() {
    let mut chunk = Chunk::new(true);
    chunk.checkpoint(&[(types::TRACE, vec![]), (types::CLASS, vec![])]);
    let text = [chunk.integer(200, 8), chunk.integer(0xFFFF, 2), chunk.text("x")].concat();
    chunk.event(types::OTHER, &text);
    chunk.event(777, &[1, 2, 3]);
    chunk.named(1, "org/acme/Shop", "sell");
    chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[10]);
    let digest = read(chunk.finish());
    assert_eq!(digest.panels.allocation_by_site.as_ref().map(|panel| panel.total_bytes), Some(10));
    let events = digest.panels.events.expect("events");
    assert_eq!((events["org.acme.Event"], events["type 777"]), (1, 1));
    assert!(!digest.quality.truncated);
    assert_eq!(digest.quality.skipped_events, 0);
}

/// 2: a file of a repository that is being written is skipped and told; the finished ones count.
#[test]
fn a_chunk_in_the_making_is_skipped_and_the_others_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = |state: u8| {
        let mut chunk = Chunk::new(true);
        chunk.named(1, "org/acme/Shop", "sell");
        chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[10]);
        let mut bytes = chunk.finish();
        bytes[64] = state;
        bytes
    };
    let write = |name: &str, bytes: Vec<u8>| {
        std::fs::write(folder.path().join(name), bytes).expect("a file");
    };
    let read = || digest(&Recording::recover(folder.path()).expect("chunks"), &own());
    write("a.jfr", made(0));
    write("b.jfr", made(3));
    let clean = read();
    assert_eq!((clean.source.chunks, clean.quality.truncated), (2, false));
    write("c.jfr", made(255));
    write("d.jfr", Vec::new());
    let digest = read();
    assert_eq!(digest.source.chunks, 2);
    assert!(digest.quality.truncated && digest.quality.recovered);
    let faults = digest.quality.faults.join("\n");
    assert!(faults.contains("c.jfr: the chunk at offset 0 was being written"), "{faults}");
    assert!(faults.contains("d.jfr: no flight recording: at offset 0 expected"), "{faults}");
    let total = digest.panels.allocation_by_site.map(|panel| panel.total_bytes);
    assert_eq!(total, Some(20));
}

/// 11: a name is the same whatever encoding its text has, outside the BMP too.
#[test]
fn every_encoding_of_a_text_is_a_name() {
    let named = |symbol: &dyn Fn(&Chunk) -> Vec<u8>| {
        let mut chunk = Chunk::new(true);
        let class = symbol(&chunk);
        let id = |value| chunk.integer(value, 8);
        let pools = [(types::SYMBOL, vec![(1, class)]), (types::CLASS, vec![(1, id(1))])];
        chunk.checkpoint(&pools);
        chunk.allocation(types::SAMPLE, 200, [0, 0, 1], &[10]);
        let by_type = read(chunk.finish()).panels.allocation_by_type.expect("types");
        by_type.rows[0].name.clone()
    };
    let name = "Fa\u{df}\u{1f600}";
    let units = |chunk: &Chunk, text: &str| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut out = [vec![4], chunk.integer(units.len() as u64, 4)].concat();
        out.extend(units.iter().flat_map(|unit| chunk.integer(u64::from(*unit), 2)));
        out
    };
    assert_eq!(named(&|chunk| chunk.text(name)), name);
    assert_eq!(named(&|chunk| units(chunk, name)), name);
    assert_eq!(named(&|_| vec![5, 3, b'F', b'a', 0xDF]), "Fa\u{df}");
    assert_eq!(named(&|_| vec![1]), "");
}

/// 14: what is kept of a stack does not grow with the events that name it: the digest of ten
/// thousand events has one row, and its file is read through a window of a fixed size.
#[test]
fn a_stack_is_kept_once_however_many_events_name_it() {
    let mut chunk = Chunk::new(true);
    chunk.named(1, "org/acme/Shop", "sell");
    for at in 0..10_000 {
        chunk.allocation(types::SAMPLE, 200 + at, [0, 1, 1], &[3]);
    }
    let digest = read(chunk.finish());
    assert_eq!(sites(&digest), [("org.acme.Shop.sell".to_owned(), 30_000)]);
    assert_eq!(digest.panels.allocation_by_site.map(|panel| panel.samples), Some(10_000));
}

/// 15: the same class under many ids is one row.
#[test]
fn names_are_one_row_whatever_their_ids() {
    let mut chunk = Chunk::new(true);
    for id in 1..=3 {
        chunk.named(id, "org/acme/Shop", "sell");
        chunk.allocation(types::SAMPLE, 200, [0, id, id], &[10]);
    }
    assert_eq!(sites(&read(chunk.finish())), [("org.acme.Shop.sell".to_owned(), 30)]);
}

/// 16: the first sample of a thread carries what it allocated before.
#[test]
fn heavy_first_samples_are_flagged() {
    let heavy = |first: u64| {
        let mut chunk = Chunk::new(true);
        chunk.named(1, "org/acme/Shop", "sell");
        for at in 1..10 {
            chunk.allocation(types::SAMPLE, 200 + at, [5, 1, 1], &[1_000_000]);
        }
        // The earliest by its instant, not by its place.
        chunk.allocation(types::SAMPLE, 150, [5, 1, 1], &[first]);
        read(chunk.finish()).quality
    };
    assert!(!heavy(1_000_000).first_sample_heavy);
    let quality = heavy(90_000_000);
    assert!(quality.first_sample_heavy);
    assert_eq!((quality.first_sample_threads, quality.first_sample_bytes), (1, 90_000_000));
}

/// 17, 18: weights are summed, and two kinds of event that see the same bytes are not mixed.
#[test]
fn allocation_is_never_counted_twice() {
    let made = |both: bool| {
        let mut chunk = Chunk::new(true);
        chunk.named(1, "org/acme/Shop", "sell");
        chunk.allocation(types::IN_TLAB, 200, [0, 1, 1], &[16, 4_096]);
        chunk.allocation(types::OUTSIDE_TLAB, 200, [0, 1, 1], &[9_000]);
        if both {
            chunk.allocation(types::SAMPLE, 200, [0, 1, 1], &[13_000]);
        }
        read(chunk.finish()).panels.allocation_by_site.expect("sites")
    };
    let buffers = made(false);
    assert_eq!((buffers.total_bytes, buffers.samples), (13_096, 2));
    assert!(buffers.rule.contains("tlabSize"));
    let both = made(true);
    assert_eq!((both.total_bytes, both.samples), (13_000, 1));
    assert!(both.rule.contains("left out"));
}

/// 20, 21: kinds of samples are never added up; lost ones are told.
#[test]
fn kinds_of_samples_stay_apart() {
    let digest = digest_of("jfr/lab-jdk25-vthreads", &own());
    let execution = digest.panels.hot_methods.expect("samples");
    let cpu_time = digest.panels.cpu_time_methods.expect("CPU-time samples");
    assert_eq!((execution.samples, cpu_time.samples), (862, 1_016));
    assert!(digest.quality.lost_samples >= 47);
    assert!(cpu_time.rows[0].cpu_ns.is_some_and(|ns| ns > 0));
    assert!(cpu_time.notes.iter().any(|note| note.contains("lost")));
    let tomcat = digest_of("tomcat/tomcat", &Question::default());
    let methods = tomcat.panels.hot_methods.expect("samples");
    assert_eq!(methods.samples, 508);
    assert!(methods.notes.iter().any(|note| note.starts_with("1207 samples of threads in native")));
}

/// 22: virtual threads have no system id and no name, and are one row with a word of trust.
#[test]
fn virtual_threads_are_named_and_warned_of() {
    let digest = digest_of("jfr/lab-jdk21-vthreads", &own());
    let methods = digest.panels.hot_methods.expect("samples");
    assert_eq!(methods.virtual_samples, 228);
    assert!(methods.notes.iter().any(|note| note.contains("virtual threads")));
    let threads = digest.panels.threads.expect("threads");
    assert_eq!((threads.rows[0].name.as_str(), threads.rows[0].samples), ("(virtual)", 228));
    let plain = digest_of("jfr/lab-zgc", &own()).panels.hot_methods.expect("samples");
    assert_eq!(plain.virtual_samples, 0);
}

/// 23: the flag says that a stack was cut, not its depth. 28: recursion counts once.
#[test]
fn cut_stacks_and_recursion() {
    let methods = digest_of("jfr/lab-profile-g1", &own()).panels.hot_methods.expect("samples");
    assert_eq!((methods.samples, methods.truncated_samples), (463, 137));
    let inclusive = methods.inclusive.iter().find(|row| row.name == "fixture.lab.Hot.fib");
    assert_eq!(inclusive.map(|row| row.samples), Some(229));
    assert!(methods.inclusive.iter().all(|row| row.samples <= methods.samples));
    assert!(methods.notes.iter().any(|note| note.starts_with("137 of 463 stacks were cut")));
}

/// 24: the package of a lambda is its host's.
#[test]
fn lambdas_belong_to_their_hosts() {
    for name in ["jfr/lab-profile-g1", "jfr/lab-jdk11", "jfr/lab-jdk25-vthreads"] {
        let packages = digest_of(name, &own()).panels.packages.expect("packages");
        assert!(packages.rows.iter().all(|row| !row.name.contains("Lambda")), "{name}");
    }
}

/// 25: ticks are the chunk's own.
#[test]
fn each_chunk_has_its_own_clock() {
    let made = |start_ns, ticks_per_s, ticks| {
        let mut chunk = Chunk::new(true).clock(start_ns, ticks_per_s);
        chunk.pause(100 + ticks, ticks);
        chunk.finish()
    };
    // 2 ms each: at 1 GHz and at 2.5 MHz.
    let bytes = [made(1_000, 1_000_000_000, 2_000_000), made(5_000_000, 2_500_000, 5_000)].concat();
    let recording = Recording::of_bytes("two", bytes).expect("a recording");
    let pauses = digest(&recording, &Question::default()).panels.gc_pauses.expect("pauses");
    assert_eq!((pauses.count, pauses.sum_ns, pauses.max_ns), (2, 4_000_000, 2_000_000));
    let question = Question::default().window(6_999_999, 7_000_001);
    let pauses = digest(&recording, &question).panels.gc_pauses.expect("pauses");
    assert_eq!((pauses.count, pauses.sum_ns), (1, 2_000_000));
}

/// 26: who allocated is not who holds; with paths to the roots the banner goes.
#[test]
fn old_objects_say_what_they_do_not_know() {
    let without = digest_of("jfr/lab-profile-g1", &own()).panels.old_objects.expect("objects");
    assert!(without.banner.is_some_and(|banner| banner.contains("95 of 95")));
    assert!(without.chains.is_empty());
    let with = digest_of("jfr/lab-oldobjects", &own()).panels.old_objects.expect("objects");
    assert_eq!((with.banner, with.with_root), (None, 128));
    let chain = &with.chains[0];
    assert!(chain.name.starts_with("[B <- "), "{}", chain.name);
    assert!(
        chain.name.contains("fixture.lab.Leak.OPEN") || chain.name.contains("Leak"),
        "{}",
        chain.name
    );
    assert!(chain.name.contains("<- root: "), "{}", chain.name);
}

/// 27: the collector stands beside the series.
#[test]
fn the_collector_is_named() {
    for (name, collector) in [
        ("jfr/lab-profile-g1", "G1 (G1New + G1Old)"),
        ("jfr/lab-zgc", "ZGC (Z)"),
        ("jfr/lab-serial", "Serial (DefNew + SerialOld)"),
    ] {
        let panels = digest_of(name, &own()).panels;
        assert_eq!(panels.heap_after_gc.expect("a heap").collector, collector, "{name}");
        let run = panels.run.expect("a run");
        assert_eq!(run.collector.as_deref(), Some(collector));
        assert_eq!(run.jdk.as_deref(), Some("17.0.15+6-Debian-1deb12u1"));
        assert_eq!(run.collector_note.is_some(), name.contains("zgc"));
    }
}

/// 29: no command line, environment, host or content.
#[test]
fn nothing_private_is_told() {
    for name in [
        "jfr/lab-profile-g1",
        "jfr/lab-jdk25-vthreads",
        "tomcat/tomcat",
        "async-profiler/async-profiler",
    ] {
        let digest = digest_of(name, &Question::default());
        let text = serde_json::to_string(&digest).expect("JSON");
        for private in ["-Xmx", "/srv", "/mnt", "127.0.0.1", "buildd", "user.home", "StartFlight"] {
            assert!(!text.contains(private), "{name} tells `{private}`");
        }
    }
}

/// A panel that was switched off is absent with the reason; one that was on and saw nothing is
/// there and empty.
#[test]
fn absent_is_not_zero() {
    let soak = digest_of("jfr/lab-soak", &own());
    let reason = |digest: &RecordingDigest, panel: &str| {
        digest
            .absent
            .iter()
            .find(|absent| absent.panel == panel)
            .map(|absent| absent.reason.clone())
    };
    assert!(reason(&soak, "io").is_some_and(|reason| reason.starts_with("not recorded")));
    assert!(soak.panels.io.is_none());
    let profile = digest_of("jfr/lab-profile-g1", &own());
    assert_eq!(reason(&profile, "io"), None);
    assert!(profile.panels.io.expect("switched on").rows.iter().all(|row| row.count == 0));
    let error = drill(&open("async-profiler/async-profiler"), &own(), Subject::Pauses);
    assert!(error.expect_err("no pauses").to_string().starts_with("pauses: not recorded"));
}

/// Both separators, and a pattern without a hit is an error.
#[test]
fn drilling_by_either_separator() {
    let recording = open("jfr/lab-profile-g1");
    let ask = |site: &str, subject| drill(&recording, &own().site(site, 2), subject);
    let dots = ask("fixture.lab.Churn.wide", Subject::Allocations).expect("a hit");
    let slashes = ask("fixture/lab/Churn.wide", Subject::Allocations).expect("a hit");
    assert_eq!(dots, slashes);
    assert_eq!(dots.total, 3_747_551_048);
    let sum: u64 = dots.tables[0].rows.iter().map(|row| row.amount).sum();
    assert_eq!(sum, dots.total);
    assert!(dots.tables[0].rows[0].name.starts_with("fixture.lab.Churn.wide <- fixture.lab."));
    let fib = ask("Hot.fib", Subject::Cpu).expect("a hit");
    assert_eq!(fib.total, 229);
    let error = ask("Hto.fib", Subject::Cpu).expect_err("no hit");
    insta::assert_snapshot!(error, @"`Hto.fib` matches no frame of cpu; a pattern is part of `package.Class.method`, for example: `fixture.lab.Hot.fib`, `fixture.lab.Hot.plain`, `fixture.lab.Cliff.run`");
}

/// The digest does not depend on the number of threads or the run.
#[test]
fn the_same_bytes_give_the_same_digest() {
    let first = digest_of("jfr/lab-multichunk", &own());
    for _ in 0..3 {
        assert_eq!(digest_of("jfr/lab-multichunk", &own()), first);
    }
}
