//! A bare timer loop: how late the kernel itself wakes who sleeps, one sleep after the other. What the
//! mock's sleeps are held against.
//!
//!     bare_timer [COUNT] [MS]
//!
//! Prints one JSON object: what was asked, and percentiles of what was slept beyond it, ns.

#![expect(clippy::print_stdout, reason = "the output of the program")]

use std::num::NonZeroU64;

use clock::{Clock as _, Monotonic};
use rustix::event::{Timespec, epoll};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().ok());
    let count = arguments.next().flatten().unwrap_or(600).clamp(1, 100_000);
    let asked_ns = arguments.next().flatten().unwrap_or(10).clamp(1, 1_000) * 1_000_000;
    // As the mock does: timers are not put off to be woken together.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an epoll descriptor");
    let timeout = Timespec { tv_sec: 0, tv_nsec: asked_ns as i64 };
    let mut events = [const { std::mem::MaybeUninit::uninit() }; 1];
    let mut late_ns: Vec<u64> = (0..count)
        .map(|_| {
            let start_ns = Monotonic.now_ns();
            let _ = epoll::wait(&epoll, &mut events, Some(&timeout));
            Monotonic.now_ns().saturating_sub(start_ns + asked_ns)
        })
        .collect();
    late_ns.sort_unstable();
    let rank = |share: f64| late_ns[((late_ns.len() as f64 * share).ceil() as usize).max(1) - 1];
    println!(
        "{{\"asked_ns\":{asked_ns},\"count\":{count},\"late_ns\":{{\"p50\":{},\"p99\":{},\"max\":{}}}}}",
        rank(0.5),
        rank(0.99),
        rank(1.0)
    );
}
