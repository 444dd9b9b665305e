//! A script at work: which endpoint a request is for, how it is treated, and what is answered.

mod ask;
mod decision;
mod items;
mod oauth;
mod rpc;

use std::sync::Arc;

use record::mock::MockConfig;

pub(crate) use ask::Ask;

use crate::MockError;
use crate::answer::{Answer, Answers, Persistence};
use crate::ledger::Outcome;
use crate::request::{Event, Reader};
use crate::script::{Endpoint, Items, Kind, Script};
use crate::treatment::Behaviour;

/// Makes the sequences of random numbers of the endpoints differ.
const ENDPOINT_SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The endpoints and what they remember.
#[derive(Debug)]
pub(crate) struct Site {
    endpoints: Vec<Place>,
    oauth: Option<oauth::Server>,
    decision: Option<crate::script::Decision>,
    rpc: Option<crate::script::Rpc>,
}

/// One endpoint at work.
#[derive(Debug)]
pub(crate) struct Place {
    endpoint: Endpoint,
    pub(crate) behaviour: Behaviour,
    answers: Answers,
}

/// What a family says.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) outcome: Outcome,
}

impl Said {
    fn json(status: u16, body: &serde_json::Value, outcome: Outcome) -> Self {
        Self { status, headers: Vec::new(), body: body.to_string().into_bytes(), outcome }
    }
}

impl Site {
    /// `address` is where the mock listens: what it says of itself.
    ///
    /// # Errors
    /// [`MockError::Histogram`] when the law of an endpoint cannot be read.
    pub(crate) fn new(script: Script, address: &str) -> Result<Self, MockError> {
        let seed = script.config.seed;
        let mut endpoints = Vec::with_capacity(script.endpoints.len());
        for (index, endpoint) in script.endpoints.into_iter().enumerate() {
            let own = ENDPOINT_SEED.wrapping_mul(index as u64 + 1);
            let config = MockConfig { seed: seed ^ own, ..endpoint.config.clone() };
            let answers = match &endpoint.kind {
                Kind::Fixed(fixed) => Answers::fixed(&config, fixed),
                _ => Answers::new(&config),
            };
            endpoints.push(Place { behaviour: Behaviour::new(&config)?, answers, endpoint });
        }
        Ok(Self {
            endpoints,
            oauth: script.oauth.map(|family| oauth::Server::new(family, address, seed)),
            decision: script.decision,
            rpc: script.rpc,
        })
    }

    /// The names of the endpoints, in the order of their numbers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.endpoints.iter().map(|place| place.endpoint.name.as_str())
    }

    /// The number of the endpoint that a request is for: the first that matches.
    pub(crate) fn find(&self, ask: &Ask<'_>) -> Option<usize> {
        self.endpoints.iter().position(|Place { endpoint, .. }| {
            let method = match endpoint.method.as_deref() {
                None => true,
                // An answer to HEAD is that to GET without its body.
                Some("GET") => matches!(ask.method, "GET" | "HEAD"),
                Some(method) => method == ask.method,
            };
            method && endpoint.pattern.matches(ask.path)
        })
    }

    pub(crate) fn place(&mut self, number: usize) -> &mut Place {
        &mut self.endpoints[number]
    }

    /// What a request costs beyond the endpoint's latency, ns.
    pub(crate) fn extra_ns(&self, number: usize, ask: &Ask<'_>) -> u64 {
        let Endpoint { per_item_ns, items, .. } = &self.endpoints[number].endpoint;
        if *per_item_ns == 0 {
            return 0;
        }
        let items = match items {
            Items::Body => items::of_body(ask.body),
            Items::Query(name) => {
                ask.parameter(name).and_then(|text| text.parse().ok()).unwrap_or(1)
            }
        };
        per_item_ns.saturating_mul(items)
    }

    /// Whether the connection ends with an answer of this endpoint.
    pub(crate) fn closes(&self, number: usize, requests: u64) -> bool {
        let Endpoint { closes, config, .. } = &self.endpoints[number].endpoint;
        *closes || config.close_after.is_some_and(|most| requests >= most)
    }

    /// The good answer of an endpoint, and how it counts. What the request changes, is changed.
    pub(crate) fn answer(
        &mut self,
        number: usize,
        ask: &Ask<'_>,
        now_ns: u64,
        persistence: Persistence,
    ) -> (Arc<Answer>, Outcome) {
        let place = &self.endpoints[number];
        let said = match (&place.endpoint.kind, &mut self.oauth, &self.decision, &self.rpc) {
            (Kind::Fixed(_), ..) => return (place.answers.of(None, persistence), Outcome::Served),
            (Kind::OAuth(part), Some(oauth), ..) => oauth.answer(*part, ask, now_ns),
            (Kind::Decision, _, Some(decision), _) => decision::answer(decision, ask),
            (Kind::Rpc, _, _, Some(rpc)) => rpc::answer(rpc, ask),
            _ => unreachable!("a script has the family of each of its endpoints"),
        };
        (Arc::new(Answer::said(&said, persistence)), said.outcome)
    }

    /// The answer of a planned failure.
    pub(crate) fn failed(
        &self,
        number: usize,
        failure: record::mock::Failure,
        persistence: Persistence,
    ) -> Arc<Answer> {
        self.endpoints[number].answers.of(Some(failure), persistence)
    }
}

/// What a script makes of a stream of bytes, without a socket or a clock: how many of its requests had
/// an endpoint. For tests and fuzzing.
///
/// # Errors
/// As a server's start with this script.
pub(crate) fn rehearse(script: Script, stream: &[u8]) -> Result<usize, MockError> {
    let mut site = Site::new(script, "127.0.0.1:1")?;
    let mut reader = Reader::default();
    reader.keep(true);
    let (mut start, mut found) = (0, 0);
    loop {
        let step = reader.step(&stream[start..]);
        start += step.consumed;
        match step.event {
            Event::NeedMore | Event::Refused(_) => return Ok(found),
            Event::ExpectsContinue => {}
            Event::Request(request) => {
                let Some(kept) = reader.kept() else { return Ok(found) };
                let ask = Ask::new(kept);
                let Some(number) = site.find(&ask) else { continue };
                found += 1;
                site.extra_ns(number, &ask);
                let (answer, _) = site.answer(number, &ask, start as u64, request.persistence);
                let whole = answer.unsent(request.head_only, b"", 0).concat();
                assert!(whole.starts_with(b"HTTP/1.1 "), "an answer has a head");
                let head = whole.windows(4).position(|four| four == b"\r\n\r\n");
                let head = &whole[..head.expect("a head ends")];
                // What a peer sent must not make lines of its own in a head.
                let lines = head.split(|byte| *byte == b'\n').count();
                assert!(lines <= 64 && !head.windows(2).any(|two| two == b"\n\n"), "{lines} lines");
            }
        }
    }
}
