//! Signals reach the loop. One test in its own process: handlers belong to all threads.

mod support;

use std::sync::mpsc;

use mock::{Control, Server};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use signal_hook::low_level::raise;
use support::{PATIENCE, config};

#[test]
fn usr1_flushes_term_and_int_stop() {
    for stop in [SIGTERM, SIGINT] {
        let server = Server::bind(config(&[])).expect("a free port");
        let (sender, flushed) = mpsc::channel();
        let control = Control::new()
            .and_then(Control::with_signals)
            .expect("handlers")
            .on_flush(move |record| sender.send(record).expect("the test listens"));
        let thread = std::thread::spawn(move || server.run(control));
        for _ in 0..2 {
            raise(SIGUSR1).expect("a known signal");
            let record = flushed.recv_timeout(PATIENCE).expect("a flush comes back");
            assert_eq!(record.served, 0);
        }
        raise(stop).expect("a known signal");
        assert_eq!(thread.join().expect("no panic").served, 0);
    }
}
