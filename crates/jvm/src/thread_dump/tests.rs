use std::fs;
use std::path::Path;

use serde_json::Value;

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/jvm").join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("fixture `{}`: {error}", path.display()))
}

fn dump(name: &str) -> ThreadDump {
    ThreadDump::read(&fixture(name)[..]).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const PRINTED: [&str; 5] = [
    "texts/thread-print-11.txt",
    "texts/thread-print-17.txt",
    "texts/thread-print-21.txt",
    "texts/thread-print-25.txt",
    "texts/jstack-11.txt",
];

fn thread<'a>(dump: &'a ThreadDump, name: &str) -> &'a Thread {
    dump.threads.iter().find(|thread| thread.name == name).unwrap_or_else(|| panic!("no `{name}`"))
}

#[test]
fn dumps_agree_with_the_truth() {
    let truth: Value = serde_json::from_slice(&fixture("texts/truth.json")).expect("JSON");
    for name in PRINTED {
        let (dump, truth) = (dump(name), &truth[name.trim_start_matches("texts/")]);
        assert_eq!(Value::from(dump.threads.len()), truth["threads"], "{name}");
        for state in [State::Runnable, State::Blocked, State::Waiting, State::TimedWaiting] {
            let count = Value::from(dump.count(state));
            assert_eq!(count, truth["states"][state.name()], "{name} {state:?}");
        }
        let frames: usize =
            dump.threads.iter().map(|thread| thread.stack.len() + thread.carried_stack.len()).sum();
        assert_eq!(Value::from(frames), truth["frames"], "{name}");
        assert_eq!(Value::from(dump.deadlocks.len()), truth["deadlocks"], "{name}");
        assert!(!dump.quality.unfinished && !dump.quality.more_follows, "{name}");
        assert!(dump.taken.as_deref().is_some_and(|taken| taken.starts_with("2026-11-30 ")));
        assert!(dump.jvm.as_deref().is_some_and(|jvm| jvm.contains("Server VM (")));
    }
}

/// Names with quotes, spaces, line ends, a semicolon and nothing at all.
#[test]
fn names_hold_anything() {
    for name in
        PRINTED.into_iter().chain(["texts/dump-to-file-21.txt", "texts/dump-to-file-25.txt"])
    {
        let dump = dump(name);
        for wanted in [
            "worker \"left\" of 2",
            "worker \"right\" #2 prio=9",
            "lock one",
            "two\nlines",
            "blocked; on shared",
            "",
        ] {
            let thread = thread(&dump, wanted);
            assert!(thread.number.is_some_and(|number| number > 2), "{name} `{wanted}`");
        }
        let right = thread(&dump, "worker \"right\" #2 prio=9");
        assert!(right.number.is_some_and(|number| number > 2), "not the one in its name");
    }
}

#[test]
fn states_times_and_stacks() {
    let dump = dump("texts/thread-print-25.txt");
    let main = thread(&dump, "main");
    assert_eq!((main.number, main.daemon), (Some(3), false));
    assert_eq!((main.cpu_ns, main.elapsed_ns), (Some(157_040_000), Some(2_660_000_000)));
    assert_eq!(main.state, Some(State::TimedWaiting));
    assert_eq!(main.state_detail.as_deref(), Some("sleeping"));
    let frames: Vec<_> = main.stack.iter().map(|frame| dump.frame(*frame)).collect();
    assert_eq!(frames[0], "java.lang.Thread.sleepNanos0(java.base@25.0.2/Native Method)");
    assert_eq!(frames[3], "Dump.main(Dump.java:26)");
    let vm = thread(&dump, "VM Thread");
    assert_eq!((vm.number, vm.state, vm.stack.len()), (None, None, 0));
}

/// A virtual thread and its carrier: 21 names it, 25 prints its stack, a dump to a file has both.
#[test]
fn virtual_threads_and_their_carriers() {
    let of = |name: &str| {
        let dump = dump(name);
        let carrier = dump.threads.iter().find(|thread| thread.carries.is_some()).expect("carrier");
        let leaf = carrier.carried_stack.first().map(|frame| dump.frame(*frame).to_owned());
        (carrier.carries, carrier.stack.len(), leaf)
    };
    assert_eq!(of("texts/thread-print-21.txt"), (Some(25), 9, None));
    let leaf = Some("Dump.spinFor(Dump.java:31)".to_owned());
    assert_eq!(of("texts/thread-print-25.txt"), (Some(28), 10, leaf));
    for name in ["texts/dump-to-file-21.txt", "texts/dump-to-file-25.txt"] {
        let dump = dump(name);
        let threads: Vec<_> = dump.threads.iter().filter(|thread| thread.is_virtual).collect();
        assert_eq!(threads.len(), 2, "{name}");
        assert!(dump.frame(threads[0].stack[0]).starts_with("Dump.spinFor("), "{name}");
        assert!(dump.jvm.as_deref().is_some_and(|jvm| jvm.starts_with('2')), "{name}");
    }
    let dump = dump("texts/dump-to-file-25.txt");
    let sleeping = dump.threads.iter().filter(|thread| thread.is_virtual).nth(1).expect("two");
    assert_eq!(sleeping.state, Some(State::TimedWaiting));
}

#[test]
fn deadlocks_name_their_threads_and_what_each_waits_for() {
    for name in PRINTED {
        let dump = dump(name);
        let told: Vec<Vec<_>> = dump
            .deadlocks
            .iter()
            .map(|deadlock| {
                let threads = deadlock.threads.iter();
                threads
                    .map(|t| (t.name.as_str(), t.waits_for.as_str(), t.held_by.as_str()))
                    .collect()
            })
            .collect();
        let (left, right) = ("worker \"left\" of 2", "worker \"right\" #2 prio=9");
        let sync = "java.util.concurrent.locks.ReentrantLock$NonfairSync";
        let monitors =
            vec![(left, "java.lang.StringBuilder", right), (right, "java.lang.Object", left)];
        let locks = vec![("lock one", sync, "lock two"), ("lock two", sync, "lock one")];
        assert_eq!(told, [monitors, locks], "{name}");
    }
}

/// Who holds what: one that waits in `Object.wait()` printed `locked` too and holds nothing.
#[test]
fn a_lock_is_held_by_the_one_that_does_not_wait_on_it() {
    for name in PRINTED {
        let dump = dump(name);
        let contentions = dump.contentions();
        let name_of = |index: usize| dump.threads[index].name.as_str();
        let shared = contentions
            .iter()
            .find(|lock| lock.waiters.iter().any(|waiter| name_of(*waiter) == "blocked; on shared"))
            .expect("the planted monitor");
        assert_eq!(shared.owner.map(name_of), Some(""), "{name}: not `two\\nlines`, which waits");
        assert_eq!(shared.waiters.len(), 1, "{name}");
        assert_eq!(shared.class, "java.lang.Object");
        let sync = contentions
            .iter()
            .find(|lock| lock.waiters.iter().any(|waiter| name_of(*waiter) == "lock one"))
            .expect("the planted lock");
        assert_eq!(
            sync.owner.map(name_of),
            Some("lock two"),
            "{name}: by its list of synchronizers"
        );
    }
}

#[test]
fn tomcat_under_load() {
    let dump = dump("tomcat/tomcat.thread-print.txt");
    assert_eq!(dump.deadlocks, []);
    assert!(dump.threads.iter().any(|thread| thread.name.starts_with("http-nio-")));
    let queue = dump.contentions();
    assert!(queue.iter().all(|lock| lock.owner.is_none()), "idle workers park, nobody blocks");
}

#[test]
fn a_file_that_is_no_dump_names_what_was_expected_and_found() {
    let error = ThreadDump::read(&b"hello\nworld\n"[..]).expect_err("none");
    insta::assert_snapshot!(error, @r#"expected a thread dump with a line like `"main" #1 prio=5 ...`, found 2 lines without one; the first: `hello`. One is written with `jcmd PID Thread.print`"#);
    assert!(ThreadDump::read(&b""[..]).is_err());
    for name in PRINTED.into_iter().chain(["texts/dump-to-file-21.txt"]) {
        assert!(looks_like(&fixture(name)[..3_000]), "{name}");
    }
    for name in [
        "gc/lab-serial.gc.log",
        "heap/heap-live.histogram-after.txt",
        "async-profiler/cpu.collapsed",
    ] {
        assert!(!looks_like(&fixture(name)), "{name}");
    }
}

#[test]
fn a_second_dump_is_named_and_a_cut_one_marked() {
    let text = String::from_utf8(fixture("texts/thread-print-17.txt")).expect("text");
    let whole = dump("texts/thread-print-17.txt");
    let twice = ThreadDump::read(format!("{text}{text}").as_bytes()).expect("a dump");
    assert!(twice.quality.more_follows);
    assert_eq!(twice.threads, whole.threads);
    let at = text.find("which is held by").expect("a deadlock");
    let cut = ThreadDump::read(&text.as_bytes()[..at]).expect("a dump");
    assert!(cut.quality.unfinished);
}

#[test]
fn cut_and_mutated_dumps_give_what_is_left() {
    let corpus: Vec<Vec<u8>> = [
        "texts/thread-print-25.txt",
        "texts/dump-to-file-21.txt",
        "tomcat/tomcat.thread-print.txt",
    ]
    .map(fixture)
    .into();
    for text in &corpus {
        let whole = ThreadDump::read(&text[..]).expect("a dump");
        for step in 0..200 {
            let Ok(part) = ThreadDump::read(&text[..text.len() * step / 200]) else { continue };
            assert!(part.threads.len() <= whole.threads.len() + 1);
        }
        for seed in 0..100 {
            let mutant = corpus::mutate(&text[..6_000], &corpus, b"\"#<>()- \t\n:", seed);
            if let Ok(dump) = ThreadDump::read(&mutant[..]) {
                let _ = dump.contentions();
            }
        }
    }
}

#[test]
fn the_corpus_of_the_fuzz_target_holds() {
    corpus::replay("thread_dump", b"\"#<>()-=, \t\n:", 6, |data, from| {
        if let Ok(dump) = ThreadDump::read(data) {
            assert!(dump.contentions().iter().all(|lock| !lock.waiters.is_empty()), "{from}");
        }
    });
}
