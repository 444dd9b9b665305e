//! The brake of a positive control: a tree of processes that stands still for a known share of
//! the time, so that a server which is bound by its CPU is slower by a known amount.
//!
//! No privilege is needed: the guardian stops the child's process group and whatever else is
//! below it (SIGSTOP), and lets it go on (SIGCONT), many times a second. [`Pace`] says when and is
//! a pure function of the clock; [`Hold`] does it. Nothing is left stopped: the guardian
//! releases the tree before it ends it in any way, and a tree whose guardian is killed is
//! continued by the kernel when its process group is orphaned.
//!
//! What it can show: a server that is busy all the time, in a closed loop, does `1 + p` times
//! less. A server that waits catches up between two stops and is slowed by less; a tail latency
//! sees the stops themselves.

use std::time::{Duration, Instant};

use observe::procfs::Stat;
use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use serde::{Deserialize, Serialize};

use crate::guardian::{descendants, signal_process};

/// Length of a period: short against any window, long against the cost of two signals.
const PERIOD: Duration = Duration::from_millis(20);
/// Largest share that a brake slows by: it stands still for nine tenths of the time.
const MOST_SLOWED: f64 = 9.0;
/// After a guardian was late, a stop makes good for at most this many of its planned lengths.
const MOST_MADE_GOOD: f64 = 4.0;
/// How often processes are looked for that left the child's group.
const LOOK: Duration = Duration::from_millis(500);

const SIGSTOP: i32 = 19;
const SIGCONT: i32 = 18;

/// How long of each period the tree stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brake {
    /// Length of a period, ns.
    pub period_ns: u64,
    /// Of that the tree stands still for so long on average, ns; less than the period.
    pub stopped_ns: u64,
}

impl Brake {
    /// The brake that makes a busy tree take `share` more time (0.05 is 5 %): work of the length
    /// 1 is done in `1 + share`, of which it stands still for `share / (1 + share)`. `None`
    /// outside 0 to 900 %.
    #[must_use]
    pub fn slowing_by(share: f64) -> Option<Self> {
        let fits = share > 0.0 && share <= MOST_SLOWED;
        let period_ns = PERIOD.as_nanos() as u64;
        let stopped_ns = (period_ns as f64 * share / (1.0 + share)).round() as u64;
        (fits && stopped_ns > 0).then_some(Self { period_ns, stopped_ns })
    }
}

/// What the tree does from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// It goes on.
    Run,
    /// It stands still.
    Stop,
}

/// When to stop and when to go on. It keeps a balance of the time stood still against the time
/// passed, so that being late on one turn is made good on the next ones.
#[derive(Debug)]
pub(crate) struct Pace {
    brake: Brake,
    began_ns: u64,
    stopped_ns: u64,
    turn: Turn,
    since_ns: u64,
    until_ns: u64,
}

impl Pace {
    /// Begins with a run.
    pub(crate) fn new(brake: Brake, now_ns: u64) -> Self {
        let until_ns = now_ns.saturating_add(brake.period_ns - brake.stopped_ns);
        Self { brake, began_ns: now_ns, stopped_ns: 0, turn: Turn::Run, since_ns: now_ns, until_ns }
    }

    /// The turn that begins now, if one does.
    pub(crate) fn turn(&mut self, now_ns: u64) -> Option<Turn> {
        if now_ns < self.until_ns {
            return None;
        }
        match self.turn {
            Turn::Run => {
                let length_ns = self.due_ns(now_ns);
                if length_ns == 0 {
                    // Stood still for too long before: this stop is left out.
                    self.until_ns = now_ns.saturating_add(self.brake.period_ns);
                    return None;
                }
                self.turn = Turn::Stop;
                self.until_ns = now_ns.saturating_add(length_ns);
            }
            Turn::Stop => {
                self.stopped_ns =
                    self.stopped_ns.saturating_add(now_ns.saturating_sub(self.since_ns));
                self.turn = Turn::Run;
                let run_ns = self.brake.period_ns - self.brake.stopped_ns;
                self.until_ns = now_ns.saturating_add(run_ns);
            }
        }
        self.since_ns = now_ns;
        Some(self.turn)
    }

    /// How long the stop that begins now lasts, so that at its end the balance is even: `x` with
    /// `(stopped + x) / (passed + x)` the share of the brake.
    fn due_ns(&self, now_ns: u64) -> u64 {
        let share = self.brake.stopped_ns as f64 / self.brake.period_ns as f64;
        let passed = now_ns.saturating_sub(self.began_ns) as f64;
        let due = (share * passed - self.stopped_ns as f64) / (1.0 - share);
        due.clamp(0.0, MOST_MADE_GOOD * self.brake.stopped_ns as f64).round() as u64
    }

    /// How long until the next turn.
    pub(crate) fn wait(&self, now_ns: u64) -> Duration {
        Duration::from_nanos(self.until_ns.saturating_sub(now_ns))
    }
}

/// A tree under a brake.
#[derive(Debug)]
pub(crate) struct Hold {
    pace: Pace,
    began: Instant,
    is_stopped: bool,
    /// Below the guardian and not in the child's group: daemons, shells with job control.
    strays: Vec<Stat>,
    looked_at: Option<Instant>,
}

impl Hold {
    pub(crate) fn new(brake: Brake) -> Self {
        Self {
            pace: Pace::new(brake, 0),
            began: Instant::now(),
            is_stopped: false,
            strays: Vec::new(),
            looked_at: None,
        }
    }

    /// Takes the turn that is due and returns how long until the next one. `main` leads the
    /// group and has not been reaped, so that its number is nobody else's.
    pub(crate) fn advance(&mut self, main: Pid) -> Duration {
        let now_ns = |began: Instant| began.elapsed().as_nanos() as u64;
        match self.pace.turn(now_ns(self.began)) {
            Some(Turn::Stop) => {
                self.signal(main, Signal::STOP, SIGSTOP);
                self.is_stopped = true;
            }
            Some(Turn::Run) => {
                self.signal(main, Signal::CONT, SIGCONT);
                self.is_stopped = false;
                // While the tree runs: a look at all processes is no part of a stop.
                self.look(main);
            }
            None => {}
        }
        self.pace.wait(now_ns(self.began))
    }

    /// Lets everything below go on, for good. `main` is `None` when it has been reaped.
    pub(crate) fn release(self, main: Option<Pid>) {
        if !self.is_stopped {
            return;
        }
        if let Some(main) = main {
            let _ = kill_process_group(main, Signal::CONT);
        }
        for process in descendants() {
            signal_process(&process, SIGCONT);
        }
    }

    fn signal(&self, main: Pid, signal: Signal, number: i32) {
        // Fails only when the group is gone, which shows as an exit.
        let _ = kill_process_group(main, signal);
        for stray in &self.strays {
            signal_process(stray, number);
        }
    }

    fn look(&mut self, main: Pid) {
        if self.looked_at.is_some_and(|at| at.elapsed() < LOOK) {
            return;
        }
        self.looked_at = Some(Instant::now());
        let in_group = |process: &Stat| {
            let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
            getpgid(pid).is_ok_and(|group| group == main)
        };
        self.strays = descendants();
        self.strays.retain(|process| !in_group(process));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shares() {
        let of = |share| Brake::slowing_by(share).map(|brake| brake.stopped_ns);
        assert_eq!(of(1.0), Some(10_000_000), "half of the time");
        assert_eq!(of(0.25), Some(4_000_000));
        assert_eq!(of(0.05), Some(952_381), "1/21");
        for none in [0.0, -0.1, 9.1, f64::NAN, f64::INFINITY] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    /// Runs a pace for `turns` turns, each woken up `late` too late; the share stood still.
    fn share_stopped(brake: Brake, late: impl Fn(usize) -> u64, turns: usize) -> f64 {
        let mut pace = Pace::new(brake, 0);
        let (mut now, mut stopped, mut since) = (0_u64, 0_u64, None);
        for index in 0..turns {
            now += pace.wait(now).as_nanos() as u64 + late(index);
            match pace.turn(now) {
                Some(Turn::Stop) => since = Some(now),
                Some(Turn::Run) => stopped += now - since.take().expect("it was stopped"),
                None => {}
            }
        }
        stopped as f64 / now as f64
    }

    #[test]
    fn a_punctual_brake_is_exact() {
        let brake = Brake::slowing_by(0.05).expect("a share");
        let share = share_stopped(brake, |_| 0, 2_000);
        assert!((share - 0.05 / 1.05).abs() < 1e-4, "{share}");
    }

    proptest! {
        /// Being late, by up to half a millisecond at every turn, changes nothing in the long
        /// run: a stop that was too long is followed by shorter ones.
        #[test]
        fn a_late_brake_keeps_the_balance(
            slowed in 0.02..2.0_f64,
            late in proptest::collection::vec(0_u64..500_000, 50),
        ) {
            let brake = Brake::slowing_by(slowed).expect("a share");
            let share = share_stopped(brake, |index| late[index % late.len()], 5_000);
            let asked = slowed / (1.0 + slowed);
            prop_assert!((share - asked).abs() < 0.01 * asked + 1e-4, "{} for {}", share, asked);
        }

        /// Whatever the clock does, a single stop is bounded and the tree goes on after it.
        #[test]
        fn a_stop_is_bounded(slowed in 0.02..2.0_f64, jumps in proptest::collection::vec(0_u64..10_000_000_000, 1..40)) {
            let brake = Brake::slowing_by(slowed).expect("a share");
            let mut pace = Pace::new(brake, 0);
            let mut now = 0;
            for jump in jumps {
                now += jump;
                if pace.turn(now) == Some(Turn::Stop) {
                    let wait = pace.wait(now).as_nanos() as f64;
                    prop_assert!(wait <= MOST_MADE_GOOD * brake.stopped_ns as f64 + 1.0);
                }
            }
        }
    }
}
