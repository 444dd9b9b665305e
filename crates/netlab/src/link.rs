//! A link between two namespaces through TUN devices: each packet waits for a while, or is lost.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use stats::random::Random;

use crate::{Namespace, tun};

/// Packets on their way in one direction; more are lost, as on any link.
const QUEUE_PACKETS: usize = 10_000;
/// Longest packet.
const PACKET_BYTES: usize = 65_536;
/// How long a direction sleeps at most before it looks whether it should end.
const LOOK: Duration = Duration::from_millis(50);

/// What happens to packets, the same in both directions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// How long each packet takes at least.
    pub delay: Duration,
    /// Share of packets that are lost, 0 to 1.
    pub loss: f64,
    /// Of the choice which.
    pub seed: u64,
}

/// A running link; it ends with the value.
#[derive(Debug)]
pub struct Link {
    stop: Arc<AtomicBool>,
    lost: Arc<AtomicU64>,
    threads: Vec<JoinHandle<()>>,
}

impl Link {
    /// Joins two namespaces by devices called `wire`, with these addresses.
    ///
    /// # Panics
    /// When the devices cannot be made.
    #[must_use]
    pub fn join(
        left: (&Namespace, &str),
        right: (&Namespace, &str),
        conditions: Conditions,
    ) -> Self {
        let ends = [(left, right), (right, left)].map(|((namespace, own), (_, other))| {
            let file = tun::open(namespace, "wire");
            namespace.ip(&format!("addr add {own} peer {other} dev wire"));
            namespace.ip("link set wire up");
            rustix::fs::fcntl_setfl(&file, OFlags::NONBLOCK).expect("an open file");
            file
        });
        let stop = Arc::new(AtomicBool::new(false));
        let lost = Arc::new(AtomicU64::new(0));
        let threads = [(0, 1), (1, 0)]
            .map(|(from, to)| {
                let again = "an open file can be opened again";
                let direction = Direction {
                    from: ends[from].try_clone().expect(again),
                    to: ends[to].try_clone().expect(again),
                    conditions,
                    random: Random::seeded(conditions.seed ^ from as u64),
                    lost: Arc::clone(&lost),
                };
                let stop = Arc::clone(&stop);
                std::thread::spawn(move || direction.carry(&stop))
            })
            .into();
        Self { stop, lost, threads }
    }

    /// Packets lost so far, by plan or because too many were on their way.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A direction that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// One way.
struct Direction {
    from: File,
    to: File,
    conditions: Conditions,
    random: Random,
    lost: Arc<AtomicU64>,
}

impl Direction {
    fn carry(mut self, stop: &AtomicBool) {
        let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
        let mut packet = vec![0; PACKET_BYTES];
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            // The delay is constant, so the first is due first; never early.
            while waiting.front().is_some_and(|(due, _)| *due <= now) {
                if let Some((_, bytes)) = waiting.pop_front()
                    && self.to.write(&bytes).is_err()
                {
                    self.lost.fetch_add(1, Ordering::Relaxed);
                }
            }
            let wait = waiting.front().map_or(LOOK, |(due, _)| due.saturating_duration_since(now));
            let wait = wait.min(LOOK);
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
            let mut readable = [PollFd::new(&self.from, PollFlags::IN)];
            // Interrupted or not: what is there is read, what is due goes.
            let _ = poll(&mut readable, Some(&timeout));
            loop {
                match self.from.read(&mut packet) {
                    Ok(bytes) => {
                        let is_lost = self.random.unit() < self.conditions.loss;
                        if is_lost || waiting.len() == QUEUE_PACKETS {
                            self.lost.fetch_add(1, Ordering::Relaxed);
                        } else {
                            let due = Instant::now() + self.conditions.delay;
                            waiting.push_back((due, packet[..bytes].to_vec()));
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
    }
}
