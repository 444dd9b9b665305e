//! What is to be done about a request: the one place where the faults, the law, the capacity and
//! the limit of an address come together.

use std::net::IpAddr;

use record::mock::MockConfig;
use stats::random::Random;

use crate::MockError;
use crate::capacity::Capacity;
use crate::connection::{Duty, Pending};
use crate::delay::{self, Delay, Draws};
use crate::law::Sampler;
use crate::ledger::Outcome;
use crate::limiter::Limiter;
use crate::truth::Says;

/// Makes the seed of the law's own sequence from the configured one: a law draws without changing
/// what fails.
const LAW_SEED: u64 = 0x6c61_775f_6f66_5f69;

/// Which answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// As configured: a good one, or that of a planned failure.
    Planned,
    /// 503: the queue is full.
    Overloaded,
    /// 429: the address is over its rate.
    Limited,
    /// 404: no endpoint is for it.
    Unmatched,
}

/// What is to be done about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Treatment {
    pub(crate) duty: Duty,
    pub(crate) answer: Reply,
    pub(crate) delay: Delay,
    pub(crate) says: Option<Says>,
}

/// How the requests of a server without a script, or of one endpoint, are treated: settings and the
/// random numbers that belong to them.
#[derive(Debug)]
pub(crate) struct Behaviour {
    config: MockConfig,
    random: Random,
    law: Sampler,
    law_random: Random,
}

impl Behaviour {
    /// # Errors
    /// [`MockError::Histogram`] when the law cannot be read.
    pub(crate) fn new(config: &MockConfig) -> Result<Self, MockError> {
        Ok(Self {
            random: Random::seeded(config.seed),
            law: Sampler::new(config)?,
            law_random: Random::seeded(config.seed ^ LAW_SEED),
            config: config.clone(),
        })
    }

    fn delay(
        &mut self,
        capacity: &mut Capacity,
        since_start_ns: u64,
        extra_ns: u64,
    ) -> Option<Delay> {
        let latency_ns = match self.law {
            Sampler::Constant(latency_ns) => latency_ns,
            _ => self.law.draw_ns(self.law_random.unit()),
        };
        let (fail, spike) = (self.random.unit(), self.random.unit());
        let draws = Draws { latency_ns, fail, spike, extra_ns };
        delay::delay(&self.config, capacity, since_start_ns, draws)
    }
}

/// Decides, request by request, in the order in which they are read. What belongs to the server as a
/// whole is here: its capacity, the limits of addresses.
#[derive(Debug)]
pub(crate) struct Decider {
    behaviour: Behaviour,
    truth_header: bool,
    capacity: Capacity,
    limiter: Option<Limiter>,
}

impl Decider {
    /// # Errors
    /// [`MockError::Histogram`] when the law cannot be read.
    pub(crate) fn new(config: &MockConfig) -> Result<Self, MockError> {
        Ok(Self {
            behaviour: Behaviour::new(config)?,
            truth_header: config.truth_header,
            capacity: Capacity::new(config),
            limiter: config.rate_limit.map(Limiter::new),
        })
    }

    /// The treatment of a request of `address` read `since_start_ns` after the server bound; by an
    /// endpoint of a script and with what the request itself costs, if there is one.
    pub(crate) fn of(
        &mut self,
        address: IpAddr,
        since_start_ns: u64,
        endpoint: Option<(&mut Behaviour, u64)>,
    ) -> Treatment {
        let over = self.limiter.as_mut().and_then(|l| l.over_ns(address, since_start_ns));
        if let Some(wait_ns) = over {
            // Whole seconds, up: who comes again then is let in.
            let seconds = wait_ns.div_ceil(1_000_000_000);
            let retry_after_s = Some(u32::try_from(seconds).unwrap_or(u32::MAX));
            return self.refused(Reply::Limited, Outcome::Limited, retry_after_s);
        }
        let (behaviour, extra_ns) = endpoint.unwrap_or((&mut self.behaviour, 0));
        match behaviour.delay(&mut self.capacity, since_start_ns, extra_ns) {
            None => self.refused(Reply::Overloaded, Outcome::Overloaded, None),
            Some(delay) => Treatment {
                duty: Pending::duty(delay.failure),
                answer: Reply::Planned,
                delay,
                says: self.says(None),
            },
        }
    }

    /// The treatment of a request that no endpoint is for: answered at once.
    pub(crate) fn unmatched(&self) -> Treatment {
        self.refused(Reply::Unmatched, Outcome::Unmatched, None)
    }

    fn refused(&self, answer: Reply, outcome: Outcome, retry_after_s: Option<u32>) -> Treatment {
        let delay = Delay { queued_ns: 0, sleep_ns: 0, failure: None };
        Treatment { duty: Duty::Answer(outcome), answer, delay, says: self.says(retry_after_s) }
    }

    fn says(&self, retry_after_s: Option<u32>) -> Option<Says> {
        let truth = self.truth_header;
        (truth || retry_after_s.is_some()).then_some(Says { truth, retry_after_s })
    }
}
