//! A request under a script: which endpoint it is for, and what that makes of it.

use std::net::IpAddr;

use super::input::{Read, plain};
use crate::answer::{Answers, Persistence};
use crate::connection::Duty;
use crate::ledger::Ledger;
use crate::request::Request;
use crate::site::{Ask, Site};
use crate::treatment::{Decider, Reply};

/// The name under which requests that no endpoint is for are counted.
const UNMATCHED: &str = "unmatched";

/// A site and the numbers of its endpoints in the ledger.
#[derive(Debug)]
pub(super) struct Scripted {
    site: Site,
    /// SHA-256 of the text.
    pub(super) sha256: String,
    numbers: Vec<u16>,
    unmatched: u16,
}

/// Where and when a request came.
#[derive(Debug, Clone, Copy)]
pub(super) struct From {
    pub(super) address: IpAddr,
    pub(super) since_start_ns: u64,
    /// Requests of its connection so far, with it.
    pub(super) requests: u64,
    /// The connection's queue has room.
    pub(super) room: bool,
}

impl Scripted {
    pub(super) fn new(site: Site, sha256: String, ledger: &mut Ledger) -> Self {
        let numbers = site.names().map(|name| ledger.endpoint(name)).collect();
        let unmatched = ledger.endpoint(UNMATCHED);
        Self { site, sha256, numbers, unmatched }
    }

    /// What is to be done about a request. What it changes at its endpoint is changed when it is read,
    /// unless it fails by plan.
    pub(super) fn read(
        &mut self,
        decider: &mut Decider,
        answers: &Answers,
        ask: &Ask<'_>,
        request: Request,
        from: From,
        now_ns: u64,
    ) -> Read {
        let Request { head_only, mut persistence } = request;
        let Some(number) = self.site.find(ask) else {
            let treatment = decider.unmatched();
            return Read {
                head_only,
                closes: persistence == Persistence::Close,
                endpoint: self.unmatched,
                answer: plain(answers, &treatment, persistence),
                treatment,
                now_ns,
                room: from.room,
            };
        };
        if self.site.closes(number, from.requests) {
            persistence = Persistence::Close;
        }
        let extra_ns = self.site.extra_ns(number, ask);
        let behaviour = &mut self.site.place(number).behaviour;
        let mut treatment =
            decider.of(from.address, from.since_start_ns, Some((behaviour, extra_ns)));
        let answer = match (treatment.answer, treatment.delay.failure) {
            (Reply::Planned, None) => {
                let (answer, outcome) =
                    self.site.answer(number, ask, from.since_start_ns, persistence);
                treatment.duty = Duty::Answer(outcome);
                answer
            }
            (Reply::Planned, Some(failure)) => self.site.failed(number, failure, persistence),
            _ => plain(answers, &treatment, persistence),
        };
        Read {
            head_only,
            closes: persistence == Persistence::Close,
            endpoint: self.numbers[number],
            treatment,
            answer,
            now_ns,
            room: from.room,
        }
    }
}
