//! The mock: its configuration, by the flags of `assay mock` or the keys of a bench file's
//! `mock` table, and the record it leaves. `mock.json`, `assay mock --json`.

use serde::{Deserialize, Serialize};

use crate::units::{self, UnitError};

mod flags;
mod law;
mod office;
mod seen;

pub use law::{HISTOGRAM_BINS_MAX, Law, histogram};
pub use office::Office;
pub use seen::{Arrivals, MockEndpoint, MockRecord, MockSecond, Sleep};

/// How the mock answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MockConfig {
    /// Address to listen on; loopback unless told otherwise.
    pub listen: String,
    /// Time each request sleeps, ns; with a law its mean, or its median.
    pub latency_ns: u64,
    /// `--latency lognormal:10ms:0.5`: how the sleep is drawn around `latency_ns`.
    #[serde(default)]
    pub law: Option<Law>,
    /// Bytes of an answer's body.
    pub body_size_bytes: u64,
    /// Seed of every random choice.
    pub seed: u64,
    /// `--stall 1s/5s`: in every period the last `length` answers nothing.
    pub stall: Option<Stall>,
    /// `--fail 1%:status=503`, may be given several times; shares add up to at most 1.
    pub fail: Vec<Fail>,
    /// `--cold 5s:10x`: slower by a factor for the first seconds.
    pub cold: Option<Slowdown>,
    /// `--drift +1%/min`: the latency grows by this share of itself each minute.
    pub drift_per_min: f64,
    /// `--slow-after 10s:1.3x`: slower by a factor from then on.
    pub slow_after: Option<Slowdown>,
    /// `--spike 3.5%:225ms`: a share of requests takes this much more.
    pub spike: Option<Spike>,
    /// `--close 100`: a connection is closed after so many requests.
    #[serde(default)]
    pub close_after: Option<u64>,
    /// `--serialise 22ms`: a section that one request at a time may hold, for so long, before it
    /// sleeps, ns.
    #[serde(default)]
    pub serialise_ns: u64,
    /// `--workers 8`: so many requests are worked on at once, others queue.
    #[serde(default)]
    pub workers: Option<u32>,
    /// `--queue 100`: more than so many waiting requests are refused with status 503.
    #[serde(default)]
    pub queue: Option<u32>,
    /// `--dip 10s..20s:0.25x`: work that starts in this time takes longer, as if only this share of
    /// the capacity were there.
    #[serde(default)]
    pub dip: Option<Dip>,
    /// `--rate-limit 10/min`: more than so many requests of one address are refused with status
    /// 429 and `Retry-After`.
    #[serde(default)]
    pub rate_limit: Option<RateLimit>,
    /// `--truth-header`: each answer says how long it queued, slept and was worked on.
    #[serde(default)]
    pub truth_header: bool,
    /// `--backlog 4096`: connections that may wait to be accepted; the kernel may allow fewer.
    #[serde(default = "default_backlog")]
    pub backlog: u32,
    /// `--script FILE`: what is answered on which path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
    /// `--bias 2ms`: added to every sleep, and not to what was asked; for tests of what finds it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bias_ns: u64,
    /// `--office subject`, where it was said; see [`MockConfig::office`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub office: Option<Office>,
    /// `--control 127.0.0.1:0`: where the mock can be asked and given another script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

/// For serde, which passes a reference.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// The backlog without a flag.
fn default_backlog() -> u32 {
    4_096
}

/// A capacity that is low for a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dip {
    /// When it drops, after start, ns.
    pub from_ns: u64,
    /// When it is back, after start, ns.
    pub to_ns: u64,
    /// Share of the capacity that is left, above 0 and at most 1.
    pub factor: f64,
}

/// A limit on the requests of one address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    /// Requests in each period, which starts with the first of them.
    pub requests: u32,
    /// The period, ns.
    pub period_ns: u64,
}

/// A periodic stall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// How long nothing is answered, ns.
    pub length_ns: u64,
    /// How often, ns.
    pub period_ns: u64,
}

/// A share of requests that fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fail {
    /// Share of requests, 0 to 1.
    pub share: f64,
    /// How.
    pub how: Failure,
}

/// How a request fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Another status code, answered at once (no sleep).
    Status(u16),
    /// Status 200 with a wrong body of the right size.
    Body,
    /// The connection is reset.
    Reset,
    /// No answer at all.
    Never,
}

/// A factor on the latency around an instant after start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slowdown {
    /// The instant after start, ns.
    pub at_ns: u64,
    /// The factor on the latency.
    pub factor: f64,
}

/// A share of requests that takes longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spike {
    /// Share of requests, 0 to 1.
    pub share: f64,
    /// Added to the latency, ns.
    pub extra_ns: u64,
}

impl Default for MockConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0".to_owned(),
            latency_ns: 0,
            body_size_bytes: 128,
            seed: 1,
            stall: None,
            fail: Vec::new(),
            cold: None,
            drift_per_min: 0.0,
            slow_after: None,
            spike: None,
            close_after: None,
            law: None,
            serialise_ns: 0,
            workers: None,
            queue: None,
            dip: None,
            rate_limit: None,
            truth_header: false,
            backlog: default_backlog(),
            script: None,
            bias_ns: 0,
            office: None,
            control: None,
        }
    }
}

/// Why a mock setting was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MockConfigError {
    /// No such key.
    #[error("unknown key `{0}` of the mock")]
    Unknown(String),
    /// The value's unit is wrong.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The value has the wrong shape.
    #[error("`{text}` is not a {what}; write `{example}`")]
    Shape {
        /// The value as given.
        text: String,
        /// What was expected.
        what: &'static str,
        /// A valid spelling.
        example: &'static str,
    },
}

impl MockConfig {
    /// The keys, in the order of the documentation; flags are the same words with dashes.
    pub const KEYS: [&'static str; 22] = [
        "listen",
        "latency",
        "body_size",
        "seed",
        "stall",
        "fail",
        "cold",
        "drift",
        "slow_after",
        "spike",
        "close",
        "serialise",
        "workers",
        "queue",
        "dip",
        "rate_limit",
        "truth_header",
        "backlog",
        "script",
        "bias",
        "office",
        "control",
    ];

    /// Sets one key from its text, the same for a flag and for a bench file. `fail` adds.
    ///
    /// # Errors
    /// Unknown key, wrong unit or wrong shape, each with a valid spelling.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), MockConfigError> {
        match key {
            "listen" => self.listen = text.to_owned(),
            "latency" => (self.latency_ns, self.law) = Law::read(text)?,
            "body_size" => self.body_size_bytes = units::size_bytes(text)?,
            "seed" => {
                self.seed = text.parse().map_err(|_| shape(text, "whole number", "1"))?;
            }
            "stall" => {
                let (length, period) =
                    text.split_once('/').ok_or_else(|| shape(text, "stall", "1s/5s"))?;
                let stall = Stall {
                    length_ns: units::duration_ns(length)?,
                    period_ns: units::duration_ns(period)?,
                };
                if stall.length_ns == 0 || stall.length_ns >= stall.period_ns {
                    return Err(shape(text, "stall shorter than its period", "1s/5s"));
                }
                self.stall = Some(stall);
            }
            "fail" => self.fail.push(fail(text)?),
            "cold" => self.cold = Some(slowdown(text)?),
            "slow_after" => self.slow_after = Some(slowdown(text)?),
            "drift" => {
                let share =
                    text.strip_suffix("/min").ok_or_else(|| shape(text, "drift", "+1%/min"))?;
                self.drift_per_min = units::share(share)?;
            }
            "spike" => {
                let (share, extra) =
                    text.split_once(':').ok_or_else(|| shape(text, "spike", "3.5%:225ms"))?;
                self.spike = Some(Spike {
                    share: share_of_requests(share)?,
                    extra_ns: units::duration_ns(extra)?,
                });
            }
            "close" => self.close_after = Some(positive(text, "number of requests")?),
            "serialise" => self.serialise_ns = units::duration_ns(text)?,
            "workers" => self.workers = Some(positive(text, "number of workers")?),
            "queue" => {
                let length = text.parse().map_err(|_| shape(text, "length of a queue", "100"))?;
                self.queue = Some(length);
            }
            "dip" => self.dip = Some(dip(text)?),
            "rate_limit" => self.rate_limit = Some(rate_limit(text)?),
            "truth_header" => {
                self.truth_header = text.parse().map_err(|_| shape(text, "yes or no", "true"))?;
            }
            "backlog" => self.backlog = positive(text, "number of connections")?,
            "script" => self.script = Some(text.to_owned()),
            "bias" => self.bias_ns = units::duration_ns(text)?,
            "office" => {
                let office = Office::ALL.into_iter().find(|office| office.name() == text);
                self.office =
                    Some(office.ok_or_else(|| shape(text, "office of a mock", "instrument"))?);
            }
            "control" => {
                let port = text.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
                if port.is_none() {
                    return Err(shape(text, "address of a control port", "127.0.0.1:0"));
                }
                self.control = Some(text.to_owned());
            }
            _ => return Err(MockConfigError::Unknown(key.to_owned())),
        }
        let failing: f64 = self.fail.iter().map(|fail| fail.share).sum();
        if failing > 1.0 + 1e-9 {
            return Err(shape(text, "share that leaves the sum at or below 100 %", "1%:body"));
        }
        Ok(())
    }
}

fn shape(text: &str, what: &'static str, example: &'static str) -> MockConfigError {
    MockConfigError::Shape { text: text.to_owned(), what, example }
}

fn share_of_requests(text: &str) -> Result<f64, MockConfigError> {
    let share = units::share(text)?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(shape(text, "share of requests", "1%"))
    }
}

/// A whole number above 0.
fn positive<N: std::str::FromStr + Default + PartialOrd>(
    text: &str,
    what: &'static str,
) -> Result<N, MockConfigError> {
    text.parse().ok().filter(|n: &N| *n > N::default()).ok_or_else(|| shape(text, what, "1"))
}

fn dip(text: &str) -> Result<Dip, MockConfigError> {
    let error = || shape(text, "dip of the capacity", "10s..20s:0.25x");
    let (when, factor) = text.split_once(':').ok_or_else(error)?;
    let (from, to) = when.split_once("..").ok_or_else(error)?;
    let factor: f64 = factor.strip_suffix('x').and_then(|f| f.parse().ok()).ok_or_else(error)?;
    let (from_ns, to_ns) = (units::duration_ns(from)?, units::duration_ns(to)?);
    if from_ns < to_ns && factor > 0.0 && factor <= 1.0 {
        Ok(Dip { from_ns, to_ns, factor })
    } else {
        Err(error())
    }
}

fn rate_limit(text: &str) -> Result<RateLimit, MockConfigError> {
    let error = || shape(text, "limit of a rate", "10/min");
    let (requests, period) = text.split_once('/').ok_or_else(error)?;
    let period_ns = match period {
        "s" => 1_000_000_000,
        "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        other => units::duration_ns(other).map_err(|_| error())?,
    };
    if period_ns == 0 {
        return Err(error());
    }
    Ok(RateLimit { requests: requests.parse().map_err(|_| error())?, period_ns })
}

fn slowdown(text: &str) -> Result<Slowdown, MockConfigError> {
    let error = || shape(text, "slowdown", "5s:10x");
    let (at, factor) = text.split_once(':').ok_or_else(error)?;
    let factor: f64 = factor.strip_suffix('x').and_then(|f| f.parse().ok()).ok_or_else(error)?;
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(error());
    }
    Ok(Slowdown { at_ns: units::duration_ns(at)?, factor })
}

fn fail(text: &str) -> Result<Fail, MockConfigError> {
    let error = || shape(text, "failure", "1%:status=503");
    let (share, how) = text.split_once(':').ok_or_else(error)?;
    let how = match how.split_once('=') {
        None if how == "body" => Failure::Body,
        None if how == "reset" => Failure::Reset,
        None if how == "never" => Failure::Never,
        Some(("status", code)) => {
            let code: u16 = code.parse().map_err(|_| error())?;
            if !(200..=599).contains(&code) {
                return Err(error());
            }
            Failure::Status(code)
        }
        _ => return Err(error()),
    };
    Ok(Fail { share: share_of_requests(share)?, how })
}
