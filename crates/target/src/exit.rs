//! How a child ended, in numbers and as a sentence, and signals by name.

use std::fmt;

/// How a child ended. At most one of the two is there; both absent means that its guardian was
/// killed before it could tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// Exit code.
    pub code: Option<i32>,
    /// Number of the signal that ended it.
    pub signal: Option<i32>,
}

impl Exit {
    /// The exit of a child whose guardian could not tell.
    pub const UNKNOWN: Self = Self { code: None, signal: None };

    /// Whether it exited with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl fmt::Display for Exit {
    /// `exited with code 3`, `killed by SIGKILL (9), perhaps out of memory`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}"),
            (None, Some(signal)) => {
                match signal_name(signal) {
                    Some(name) => write!(f, "killed by SIG{name} ({signal})")?,
                    None => write!(f, "killed by signal {signal}")?,
                }
                // The kernel's out-of-memory killer uses SIGKILL; nobody else signs either.
                if signal == 9 { f.write_str(", perhaps out of memory") } else { Ok(()) }
            }
            (None, None) => f.write_str("ended unseen: its guardian was killed"),
        }
    }
}

/// Signals by name, with the numbers that x86-64 and aarch64 share.
const SIGNALS: [(&str, i32); 22] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("USR1", 10),
    ("SEGV", 11),
    ("USR2", 12),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
    ("CHLD", 17),
    ("CONT", 18),
    ("STOP", 19),
    ("XCPU", 24),
    ("XFSZ", 25),
    ("WINCH", 28),
    ("SYS", 31),
];

/// The name of a signal, without `SIG`.
#[must_use]
pub fn signal_name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(_, n)| *n == number).map(|(name, _)| *name)
}

/// The number of a signal given as `TERM` or `SIGTERM`, in any case.
#[must_use]
pub fn signal_number(name: &str) -> Option<i32> {
    let upper = name.trim().to_ascii_uppercase();
    let bare = upper.strip_prefix("SIG").unwrap_or(&upper);
    SIGNALS.iter().find(|(known, _)| *known == bare).map(|(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        let text = |code, signal| Exit { code, signal }.to_string();
        assert_eq!(text(Some(3), None), "exited with code 3");
        assert_eq!(text(None, Some(9)), "killed by SIGKILL (9), perhaps out of memory");
        assert_eq!(text(None, Some(11)), "killed by SIGSEGV (11)");
        assert_eq!(text(None, Some(40)), "killed by signal 40");
        assert_eq!(text(None, None), "ended unseen: its guardian was killed");
    }

    #[test]
    fn names_and_numbers() {
        for (name, number) in SIGNALS {
            assert_eq!(signal_number(name), Some(number));
            assert_eq!(signal_name(number), Some(name));
            assert!(rustix::process::Signal::from_named_raw(number).is_some(), "{name}");
        }
        assert_eq!(signal_number("sigquit"), Some(3));
        assert_eq!(signal_number("TREM"), None);
    }
}
