//! Time as a value. Code that waits or stamps takes a [`Clock`], so that a test can replace it.
//!
//! Instants are nanoseconds of the kernel's monotonic clock, which all processes of one host
//! share: the generator, the mock, the observer and the parent can compare theirs.

pub mod spin;

use std::sync::atomic::{AtomicU64, Ordering};

use nix::sys::resource::{UsageWho, getrusage};

/// A source of monotonic instants.
pub trait Clock {
    /// Now, ns.
    fn now_ns(&self) -> u64;
}

/// The system-wide monotonic clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    #[inline]
    fn now_ns(&self) -> u64 {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        // Monotonic time starts near boot: both parts are non-negative and fit for 584 years.
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }
}

/// A clock that only moves when told.
#[derive(Debug, Default)]
pub struct Fake(AtomicU64);

impl Fake {
    /// A clock that stands at `now_ns`.
    #[must_use]
    pub fn at(now_ns: u64) -> Self {
        Self(AtomicU64::new(now_ns))
    }

    /// Moves it forward.
    pub fn advance(&self, by_ns: u64) {
        self.0.fetch_add(by_ns, Ordering::SeqCst);
    }
}

impl Clock for Fake {
    fn now_ns(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// CPU and memory of the calling process, all threads, by `getrusage`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// User CPU since the process started, ns.
    pub cpu_user_ns: u64,
    /// System CPU since the process started, ns.
    pub cpu_sys_ns: u64,
    /// Largest resident set so far, bytes.
    pub peak_rss_bytes: u64,
}

/// What the calling process has used so far; zeros if the kernel refuses, which it does not.
#[must_use]
pub fn own_usage() -> OwnUsage {
    usage_of(UsageWho::RUSAGE_SELF)
}

/// What the children of the calling process have used that have ended and been waited for, and
/// theirs; of the memory the largest resident set of one of them.
#[must_use]
pub fn children_usage() -> OwnUsage {
    usage_of(UsageWho::RUSAGE_CHILDREN)
}

fn usage_of(who: UsageWho) -> OwnUsage {
    let Ok(usage) = getrusage(who) else { return OwnUsage::default() };
    let ns = |time: nix::sys::time::TimeVal| {
        time.tv_sec() as u64 * 1_000_000_000 + time.tv_usec() as u64 * 1_000
    };
    OwnUsage {
        cpu_user_ns: ns(usage.user_time()),
        cpu_sys_ns: ns(usage.system_time()),
        // Linux counts the maximum resident set in KiB.
        peak_rss_bytes: usage.max_rss() as u64 * 1024,
    }
}

/// The wall clock, UTC, RFC 3339 to the second: `2026-11-30T11:46:14Z`.
#[must_use]
pub fn utc_now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The wall clock, nanoseconds since the epoch.
#[must_use]
pub fn utc_now_ns() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(0)
}

/// What [`utc_now`] wrote, nanoseconds since the epoch; `None` for any other text.
#[must_use]
pub fn parse_utc_ns(text: &str) -> Option<u64> {
    u64::try_from(text.parse::<jiff::Timestamp>().ok()?.as_nanosecond()).ok()
}

/// The wall clock, UTC, for a file name: `20261130T114614Z`.
#[must_use]
pub fn utc_now_compact() -> String {
    jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monotonic_never_goes_back() {
        let first = Monotonic.now_ns();
        assert!(Monotonic.now_ns() >= first);
    }

    #[test]
    fn wall_clock_text_comes_back() {
        assert_eq!(parse_utc_ns("1970-01-01T00:00:02Z"), Some(2_000_000_000));
        assert_eq!(parse_utc_ns("yesterday"), None);
        let now = parse_utc_ns(&utc_now()).expect("its own text");
        assert!(utc_now_ns() >= now);
    }

    #[test]
    fn fake_moves_only_when_told() {
        let clock = Fake::at(5);
        assert_eq!(clock.now_ns(), 5);
        clock.advance(7);
        assert_eq!(clock.now_ns(), 12);
    }
}
