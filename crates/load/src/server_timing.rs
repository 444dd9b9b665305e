//! The time that a target says it spent at work on one request, by its `Server-Timing` header (W3C
//! Server Timing). A pure reader of header values; what it cannot read is absent, never zero.
//!
//! A metric called `queue` is time in which nobody worked on the request: it is what a client's
//! unowned time is to reveal, so it is never taken off.

/// What `Server-Timing` values add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ServerTiming {
    /// Sum of the durations of all metrics but the queue, ns.
    sum_ns: Option<f64>,
    /// Duration of the metric called `queue`, ns.
    queue_ns: f64,
    /// Duration of the metric called `total`, ns.
    total_ns: Option<f64>,
}

impl ServerTiming {
    /// Takes one header value: `queue;dur=1.5, work;desc="a, b";dur=2`. Durations are in ms.
    pub(crate) fn take(&mut self, value: &[u8]) {
        for metric in split(value, b',') {
            let mut parts = split(metric, b';');
            let Some(name) = parts.next().map(<[u8]>::trim_ascii) else { continue };
            let Some(ns) = parts.find_map(duration_ns) else { continue };
            if name.eq_ignore_ascii_case(b"queue") {
                self.queue_ns += ns;
            } else if name.eq_ignore_ascii_case(b"total") {
                self.total_ns = Some(ns);
            } else {
                self.sum_ns = Some(self.sum_ns.unwrap_or(0.0) + ns);
            }
        }
    }

    /// The metric `total` without the queue where there is one, since the others are parts of it,
    /// else the sum of the others, ns.
    pub(crate) fn owned_ns(self) -> Option<u64> {
        let total_ns = self.total_ns.map(|total| (total - self.queue_ns).max(0.0));
        total_ns.or(self.sum_ns).map(|ns| ns as u64)
    }
}

/// `dur=1.5` as ns.
fn duration_ns(parameter: &[u8]) -> Option<f64> {
    let parameter = parameter.trim_ascii();
    let equals = parameter.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&parameter[..equals], &parameter[equals + 1..]);
    if !name.trim_ascii().eq_ignore_ascii_case(b"dur") {
        return None;
    }
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"\"").and_then(|v| v.strip_suffix(b"\"")).unwrap_or(value);
    let ms: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (ms.is_finite() && ms >= 0.0).then_some(ms * 1e6)
}

/// The parts between separators that stand outside of quotes.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    text.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(values: &[&str]) -> Option<u64> {
        let mut timing = ServerTiming::default();
        for value in values {
            timing.take(value.as_bytes());
        }
        timing.owned_ns()
    }

    #[test]
    fn parts_add_up_and_a_total_stands_for_them() {
        assert_eq!(owned(&["a;dur=22.5, sleep;dur=10, work;dur=0.5"]), Some(33_000_000));
        assert_eq!(
            owned(&["db;dur=3", "total;dur=5;desc=\"all, of; it\", app;dur=4"]),
            Some(5_000_000)
        );
        assert_eq!(owned(&["cache;desc=\"a, b;dur=9\";dur=2"]), Some(2_000_000));
        assert_eq!(owned(&["x; DUR = \"1.5\""]), Some(1_500_000));
    }

    #[test]
    fn time_in_a_queue_is_nobodys() {
        assert_eq!(owned(&["queue;dur=22.5, sleep;dur=10, work;dur=0.5"]), Some(10_500_000));
        assert_eq!(owned(&["Queue;dur=3, total;dur=5"]), Some(2_000_000));
        assert_eq!(owned(&["queue;dur=3"]), None);
    }

    #[test]
    fn what_is_no_duration_is_absent() {
        for value in [
            "",
            "miss",
            "cache;desc=hit",
            "x;dur=",
            "x;dur=-1",
            "x;dur=inf",
            ";;,,\"",
            "x;dur=1e999",
        ] {
            assert_eq!(owned(&[value]), None, "{value}");
        }
    }
}
