//! The header lines that are known only when an answer is sent: what the mock did for how long, and
//! when a limited client may come again. Their length is fixed, so that an answer that is sent in
//! parts keeps its place.

/// The lines of a truth, with zeros where its digits go: rendering costs every answer, so it is a
/// copy and digits, not a formatter.
const TRUTH: &[u8] = b"Server-Timing: queue;dur=00000000.000000, sleep;dur=00000000.000000, \
                       work;dur=00000000.000000\r\nMock-Time-Ns: 00000000000000\r\n";
/// Where the milliseconds of each part start, and the ns of the whole.
const QUEUE_AT: usize = 25;
const SLEEP_AT: usize = 52;
const WORK_AT: usize = 78;
const TOTAL_AT: usize = 109;
/// Digits of a time: 27 hours in ns. Longer is cut to that.
const DIGITS: usize = 14;
const MOST_NS: u64 = 99_999_999_999_999;
/// Digits of a millisecond's fraction.
const FRACTION: usize = 6;

const RETRY: &[u8] = b"Retry-After: 0000000000\r\n";
const RETRY_AT: usize = 13;
const RETRY_DIGITS: usize = 10;

const MOST_BYTES: usize = TRUTH.len() + RETRY.len();

/// What an answer says of its request, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Truth {
    /// In the queue.
    pub(crate) queue_ns: u64,
    /// In the section and asleep, as it was.
    pub(crate) sleep_ns: u64,
    /// From the end of the sleep to the first byte of the answer.
    pub(crate) work_ns: u64,
}

/// Which lines an answer has of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Says {
    /// What the mock did.
    pub(crate) truth: bool,
    /// When to come again, s.
    pub(crate) retry_after_s: Option<u32>,
}

impl Says {
    /// Bytes of the lines.
    pub(crate) fn length(self) -> usize {
        let truth = if self.truth { TRUTH.len() } else { 0 };
        truth + if self.retry_after_s.is_some() { RETRY.len() } else { 0 }
    }
}

/// The lines of one answer, each with its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lines {
    bytes: [u8; MOST_BYTES],
    length: usize,
}

impl Lines {
    /// No line.
    pub(crate) const NONE: Self = Self { bytes: [0; MOST_BYTES], length: 0 };

    /// The lines that are to be said, of [`Says::length`].
    pub(crate) fn new(says: Says, truth: Truth) -> Self {
        let mut lines = Self::NONE;
        if says.truth {
            let Truth { queue_ns, sleep_ns, work_ns } = truth;
            let line = lines.add(TRUTH);
            for (at, ns) in [(QUEUE_AT, queue_ns), (SLEEP_AT, sleep_ns), (WORK_AT, work_ns)] {
                let ns = ns.min(MOST_NS);
                let point = at + DIGITS - FRACTION;
                digits(&mut line[at..point], ns / 1_000_000);
                digits(&mut line[point + 1..=point + FRACTION], ns % 1_000_000);
            }
            let total_ns = queue_ns.saturating_add(sleep_ns).saturating_add(work_ns);
            digits(&mut line[TOTAL_AT..TOTAL_AT + DIGITS], total_ns.min(MOST_NS));
        }
        if let Some(seconds) = says.retry_after_s {
            let line = lines.add(RETRY);
            digits(&mut line[RETRY_AT..RETRY_AT + RETRY_DIGITS], seconds.into());
        }
        lines
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn add(&mut self, template: &[u8]) -> &mut [u8] {
        let from = self.length;
        self.length += template.len();
        let line = &mut self.bytes[from..self.length];
        line.copy_from_slice(template);
        line
    }
}

/// Writes `value` over zeros, to the right; those before it stay.
fn digits(place: &mut [u8], mut value: u64) {
    for digit in place.iter_mut().rev() {
        if value == 0 {
            return;
        }
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(truth: bool, retry_after_s: Option<u32>, times_ns: [u64; 3]) -> String {
        let [queue_ns, sleep_ns, work_ns] = times_ns;
        let says = Says { truth, retry_after_s };
        let lines = Lines::new(says, Truth { queue_ns, sleep_ns, work_ns });
        assert_eq!(lines.bytes().len(), says.length());
        String::from_utf8(lines.bytes().to_vec()).expect("text")
    }

    #[test]
    fn lines_have_one_length_whatever_the_numbers() {
        let seen = text(true, Some(60), [22_000_001, 10_060_000, 950]);
        insta::assert_snapshot!(seen.replace('\r', ""), @"
        Server-Timing: queue;dur=00000022.000001, sleep;dur=00000010.060000, work;dur=00000000.000950
        Mock-Time-Ns: 00000032060951
        Retry-After: 0000000060
        ");
        for ns in [0, 999_999, u64::MAX] {
            assert_eq!(text(true, Some(u32::MAX), [ns; 3]).len(), seen.len(), "{ns}");
        }
        assert!(text(true, None, [u64::MAX; 3]).contains("queue;dur=99999999.999999, "));
        assert_eq!(text(false, Some(7), [1; 3]), "Retry-After: 0000000007\r\n");
        assert_eq!(text(false, None, [1; 3]), "");
    }
}
