//! What the mock saw since the last flush: counts, histograms, windows; and the record made
//! of it. No I/O but the reading of the process's CPU clock.

use std::collections::BTreeMap;

use record::Format;
use record::mock::{MockConfig, MockEndpoint, MockRecord, MockSecond, Sleep};
use rustix::time::{ClockId, clock_gettime};

use distribution::Distribution;
use endpoints::Endpoints;
use gaps::Gaps;
use ports::Ports;

mod distribution;
mod endpoints;
mod gaps;
mod ports;

/// Seconds of which answers are counted apart: a day.
const SERIES_SECONDS: u64 = 86_400;

/// How a request that was read in full ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Answered as configured.
    Served,
    /// A planned status was answered.
    Status,
    /// A planned wrong body was answered.
    Body,
    /// Its connection was reset, as planned.
    Reset,
    /// It will not be answered, as planned.
    Never,
    /// The peer left before its answer was written.
    Abandoned,
    /// The queue was full: status 503.
    Overloaded,
    /// Its address was over its rate: status 429.
    Limited,
    /// No endpoint of the script is for it: status 404.
    Unmatched,
    /// A family refused it, as its protocol says.
    Denied,
    /// A single-use token or code came a second time.
    Reused,
    /// The answer of a JSON-RPC call, or of one in a batch, is an error.
    RpcError,
}

/// Kinds of outcomes.
const OUTCOMES: usize = 12;

impl Outcome {
    /// The kinds of failure, by their names in the record.
    const FAILURES: [(Self, &'static str); OUTCOMES - 1] = [
        (Self::Status, "status"),
        (Self::Body, "body"),
        (Self::Reset, "reset"),
        (Self::Never, "never"),
        (Self::Abandoned, "abandoned"),
        (Self::Overloaded, "overloaded"),
        (Self::Limited, "limited"),
        (Self::Unmatched, "unmatched"),
        (Self::Denied, "denied"),
        (Self::Reused, "reused"),
        (Self::RpcError, "rpc_error"),
    ];
}

/// One stretch of the mock's life, from a start or flush to the next flush or stop.
///
/// The identity it keeps: requests carried in + requests read = served + failed + unsettled.
#[derive(Debug)]
pub(crate) struct Ledger {
    opened_ns: u64,
    cpu_at_open_ns: u64,
    /// By [`Outcome`].
    outcomes: [u64; OUTCOMES],
    malformed: u64,
    carried_in: u64,
    read: u64,
    /// Read, and neither answered nor given up; requests that are never answered are in flight
    /// until their connection ends.
    in_flight: u64,
    peak_in_flight: u64,
    first_read_ns: Option<u64>,
    last_written_ns: u64,
    service_ns: Distribution,
    queued_ns: Distribution,
    asked_ns: u64,
    slept_ns: Distribution,
    /// Answers of each second with one, in order.
    series: Vec<MockSecond>,
    /// From request read to answer written, of answers that were failures, by [`Outcome`].
    failed_ns: [Option<Box<Distribution>>; OUTCOMES],
    endpoints: Endpoints,
    gaps: Gaps,
    ports: Ports,
    accepted: u64,
}

impl Ledger {
    /// A ledger opened at `now_ns`, while `in_flight` requests are in flight, of which
    /// `carried_in` have no outcome yet. `names` are the endpoints by their numbers; none without a
    /// script.
    pub(crate) fn open(now_ns: u64, in_flight: u64, carried_in: u64, names: Vec<String>) -> Self {
        Self {
            opened_ns: now_ns,
            cpu_at_open_ns: cpu_ns(),
            outcomes: [0; OUTCOMES],
            malformed: 0,
            carried_in,
            read: 0,
            in_flight,
            peak_in_flight: in_flight,
            // Requests carried over were read before: their window starts with the ledger.
            first_read_ns: (carried_in > 0).then_some(now_ns),
            last_written_ns: 0,
            service_ns: Distribution::default(),
            queued_ns: Distribution::default(),
            asked_ns: 0,
            slept_ns: Distribution::default(),
            series: Vec::new(),
            failed_ns: Default::default(),
            endpoints: Endpoints::new(names),
            gaps: Gaps::default(),
            ports: Ports::default(),
            accepted: 0,
        }
    }

    /// A connection was accepted.
    pub(crate) fn accepted(&mut self, port: u16) {
        self.accepted += 1;
        self.ports.see(port);
    }

    /// A peer was seen: a request of it is here from before.
    pub(crate) fn peer(&mut self, port: u16) {
        self.ports.see(port);
    }

    /// A request was read in full.
    pub(crate) fn request_read(&mut self, now_ns: u64, port: u16) {
        self.ports.see(port);
        self.gaps.arrived(now_ns);
        self.read += 1;
        self.first_read_ns.get_or_insert(now_ns);
        self.in_flight += 1;
        self.peak_in_flight = self.peak_in_flight.max(self.in_flight);
    }

    /// A request has its outcome; it counts here and nowhere else.
    pub(crate) fn settled(&mut self, outcome: Outcome, endpoint: u16) {
        self.outcomes[outcome as usize] += 1;
        self.endpoints.settled(endpoint, outcome == Outcome::Served);
    }

    /// The names of the endpoints by their numbers.
    pub(crate) fn endpoint_names(&self) -> Vec<String> {
        self.endpoints.names()
    }

    /// The number of an endpoint, which may be new.
    pub(crate) fn endpoint(&mut self, name: &str) -> u16 {
        self.endpoints.number(name)
    }

    /// A request is no longer in flight.
    pub(crate) fn left_flight(&mut self) {
        debug_assert!(self.in_flight > 0, "a request leaves flight once");
        self.in_flight -= 1;
    }

    /// The last byte of an answer was handed to the kernel.
    pub(crate) fn answered(&mut self, outcome: Outcome, endpoint: u16, read_ns: u64, now_ns: u64) {
        self.settled(outcome, endpoint);
        self.last_written_ns = now_ns;
        let second = now_ns.saturating_sub(self.opened_ns) / 1_000_000_000;
        if second < SERIES_SECONDS {
            let second = second as u32;
            if self.series.last().is_none_or(|last| last.second != second) {
                self.series.push(MockSecond { second, ..MockSecond::default() });
            }
            if let Some(last) = self.series.last_mut() {
                let count =
                    if outcome == Outcome::Served { &mut last.served } else { &mut last.failed };
                *count += 1;
            }
        }
        // Planned failures, some of them instant, must not make the service look faster.
        let service_ns = now_ns.saturating_sub(read_ns);
        if outcome == Outcome::Served {
            self.service_ns.add(service_ns);
            self.endpoints.served(endpoint, service_ns);
        } else {
            self.failed_ns[outcome as usize].get_or_insert_default().add(service_ns);
        }
    }

    /// A sleep is over, and a stay in the queue before it.
    pub(crate) fn slept(&mut self, queued_ns: u64, asked_ns: u64, slept_ns: u64) {
        self.queued_ns.add(queued_ns);
        self.asked_ns = self.asked_ns.saturating_add(asked_ns);
        self.slept_ns.add(slept_ns);
    }

    /// Bytes that were no request.
    pub(crate) fn refused(&mut self) {
        self.malformed += 1;
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Requests read or carried in that have no outcome yet.
    pub(crate) fn unsettled(&self) -> u64 {
        self.carried_in + self.read - self.outcomes.iter().sum::<u64>()
    }

    /// The record at `now_ns`.
    pub(crate) fn record(&self, now_ns: u64, config: &MockConfig) -> MockRecord {
        let served = self.outcomes[Outcome::Served as usize];
        let window_ns = match self.first_read_ns {
            Some(first_read_ns) => self.last_written_ns.saturating_sub(first_read_ns),
            None => 0,
        };
        let failures: BTreeMap<String, u64> = Outcome::FAILURES
            .into_iter()
            .map(|(outcome, name)| (name.to_owned(), self.outcomes[outcome as usize]))
            .filter(|(_, count)| *count > 0)
            .collect();
        let port_range = ports::ephemeral_range();
        let ports_saturated = port_range.is_some_and(|range| self.ports.is_saturated(range));
        let mut histograms: BTreeMap<String, String> = [
            ("service", self.service_ns.encode()),
            ("slept", self.slept_ns.encode()),
            ("queued", self.queued_ns.encode()),
            ("gap", self.gaps.encode()),
        ]
        .map(|(name, histogram)| (name.to_owned(), histogram))
        .into();
        for (outcome, name) in Outcome::FAILURES {
            if let Some(failed_ns) = &self.failed_ns[outcome as usize] {
                histograms.insert(format!("failed.{name}"), failed_ns.encode());
            }
        }
        let failed = failures.values().sum();
        let service_ns = self.service_ns.summarise();
        let mut endpoints = self.endpoints.record();
        if endpoints.is_empty() {
            // Without a script there is one, and its books are the record's own.
            let service = histograms["service"].clone();
            let all = MockEndpoint { served, failed, service_ns: service_ns.clone(), service };
            endpoints.insert("/".to_owned(), all);
        }
        MockRecord {
            format: Format::v1("assay.mock"),
            served,
            failed,
            failures,
            malformed: self.malformed,
            served_per_s: if window_ns == 0 { 0.0 } else { served as f64 * 1e9 / window_ns as f64 },
            window_ns,
            peak_in_flight: self.peak_in_flight,
            service_ns,
            queued_ns: self.queued_ns.summarise(),
            sleep: Sleep { asked_ns: self.asked_ns, slept_ns: self.slept_ns.summarise() },
            histograms,
            arrivals: self.gaps.summarise(),
            distinct_peer_ports: self.ports.distinct(),
            port_range,
            ports_saturated,
            accepted: self.accepted,
            accepted_per_s: (window_ns > 0 && !ports_saturated)
                .then(|| self.accepted as f64 * 1e9 / window_ns as f64),
            cpu_ns: cpu_ns().saturating_sub(self.cpu_at_open_ns),
            life_ns: now_ns.saturating_sub(self.opened_ns),
            // The server knows.
            backlog_effective: None,
            series: self.series.clone(),
            config: config.clone(),
            config_line: config.line(),
            office: Some(config.office()),
            // The server knows.
            script_sha256: None,
            script_changes: 0,
            endpoints,
        }
    }
}

/// CPU of this process, user and system of all its threads, ns.
fn cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    // Both parts are non-negative: the clock starts at zero with the process.
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_request_once_and_keeps_the_identity() {
        let mut ledger = Ledger::open(1_000, 2, 1, Vec::new());
        for port in [7, 7, 9, 65_535, 0] {
            ledger.request_read(2_000, port);
        }
        assert_eq!(ledger.unsettled(), 6);
        ledger.answered(Outcome::Served, 0, 2_000, 12_000);
        ledger.left_flight();
        ledger.answered(Outcome::Status, 0, 2_000, 13_000);
        ledger.left_flight();
        ledger.settled(Outcome::Abandoned, 0);
        ledger.left_flight();
        ledger.refused();
        assert_eq!((ledger.unsettled(), ledger.in_flight()), (3, 4));

        let record = ledger.record(21_000, &MockConfig::default());
        assert_eq!((record.served, record.failed, record.malformed), (1, 2, 1));
        let failures: Vec<_> = record.failures.into_iter().collect();
        assert_eq!(failures, [("abandoned".to_owned(), 1), ("status".to_owned(), 1)]);
        assert_eq!((record.peak_in_flight, record.distinct_peer_ports), (7, 4));
        // Carried in: the window starts with the ledger.
        assert_eq!((record.window_ns, record.life_ns), (12_000, 20_000));
        // A planned failure has no service time.
        assert_eq!(record.service_ns.count, 1);
        assert_eq!(record.service_ns.min, Some(10_000));
    }

    #[test]
    fn nothing_seen_is_all_zero() {
        let record = Ledger::open(5, 0, 0, Vec::new()).record(5, &MockConfig::default());
        assert_eq!((record.served, record.failed, record.window_ns), (0, 0, 0));
        assert_eq!(record.served_per_s, 0.0);
        assert!(record.failures.is_empty());
    }

    #[test]
    fn answers_are_counted_by_the_second_and_gaps_are_none() {
        let mut ledger = Ledger::open(500, 0, 0, Vec::new());
        for (second, outcome) in [
            (0, Outcome::Served),
            (0, Outcome::Status),
            (2, Outcome::Served),
            (90_000, Outcome::Served),
        ] {
            let now_ns = 500 + second * 1_000_000_000;
            ledger.request_read(now_ns, 1);
            ledger.answered(outcome, 0, now_ns, now_ns);
            ledger.left_flight();
        }
        let expected = [(0, 1, 1), (2, 1, 0)].map(|(second, served, failed)| MockSecond {
            second,
            served,
            failed,
        });
        let record = ledger.record(9, &MockConfig::default());
        assert_eq!((&record.series[..], record.served), (&expected[..], 3));
    }

    #[test]
    fn a_rate_is_requests_over_the_window() {
        let mut ledger = Ledger::open(0, 0, 0, Vec::new());
        for n in 0..10 {
            ledger.request_read(1_000_000_000 + n, 1);
            ledger.answered(Outcome::Served, 0, 1_000_000_000 + n, 1_500_000_000);
            ledger.left_flight();
        }
        let record = ledger.record(9, &MockConfig::default());
        assert_eq!((record.window_ns, record.served_per_s), (500_000_000, 20.0));
        assert_eq!(record.series, [MockSecond { second: 1, served: 10, failed: 0 }]);
        assert_eq!(record.peak_in_flight, 1);
    }
}
