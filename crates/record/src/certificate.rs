//! The certificate of a generator on a host: what it can be believed at, found by loading the mock,
//! whose record is the truth. `assay.certificate`.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::meta::HostFacts;
use crate::seal::Sealed;

/// A certificate. Kept as one file with its own SHA-256.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// `assay.certificate`.
    pub format: Format,
    /// SHA-256 of this file's compact JSON with this field empty, lower-case hex.
    pub sha256: String,
    /// When the last of its runs was made, UTC.
    pub made_utc: String,
    /// The same, ns since 1970.
    pub made_unix_ns: u64,
    /// When it ends by age, ns since 1970.
    pub expires_unix_ns: u64,
    /// What it is of; on anything else it says nothing.
    pub of: CertificateOf,
    /// Settings of the mock that were asked for beside the certificate's own, as `KEY=VALUE`.
    #[serde(default)]
    pub against: Vec<String>,
    /// Whether p99.99 was looked for.
    pub deep: bool,
    /// Percentiles of a constant load against the mock's record, by load model.
    pub accuracy: Vec<Accuracy>,
    /// Requests counted by both sides.
    pub counts: CountsAgree,
    /// Smallest latency from which on every median was right to [`Bounds::error_share`], ns.
    pub resolution_ns: Option<u64>,
    /// The latencies that were tried.
    pub resolution: Vec<Trial>,
    /// Highest arrival rate up to which every rate was honest, per second.
    pub honest_per_s: Option<f64>,
    /// What stopped the next rate; absent when the ladder ended first: the rate is a lower bound.
    #[serde(default)]
    pub honest_limit: Option<String>,
    /// The rates that were tried, ascending.
    pub rates: Vec<Step>,
    /// Most users up to which every number of users was honest.
    pub honest_users: Option<f64>,
    /// The numbers of users that were tried, ascending.
    pub users: Vec<Step>,
    /// How far the median error moves over the honest part of the ladders, as a share of the
    /// constant latency behind them, by load model.
    pub flatness: Vec<Flatness>,
    /// A mock that stalls, by load model.
    pub stalls: Vec<StallSeen>,
    /// The arrivals of a constant rate as the mock saw them.
    #[serde(default)]
    pub arrivals: Option<Arrivals>,
    /// The bounds that applied.
    pub bounds: Bounds,
    /// Each property in one line, the bad ones too.
    pub findings: Vec<Finding>,
    /// Label directories of the runs behind it, as they were named.
    #[serde(default)]
    pub runs: Vec<String>,
}

/// What a certificate is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateOf {
    /// Name of the generator: `assay`, or that of an adapter.
    pub generator: String,
    /// Its version as it reports itself.
    pub generator_version: String,
    /// The program that another generator was started as, and its SHA-256: a version does not tell
    /// two commands apart. Absent for assay's own, whose version is that of assay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_program: Option<String>,
    /// Version of assay.
    pub assay_version: String,
    /// The host.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Cores of the host.
    pub cores: u32,
    /// Cores that the generator was given; 0 is all.
    #[serde(default)]
    pub generator_cores: u32,
    /// Transport: `p0` is plaintext.
    pub transport: String,
    /// Protocol.
    pub protocol: String,
}

impl CertificateOf {
    /// What assay's own generator on this host over this transport is certified as.
    #[must_use]
    pub fn own(host: &HostFacts, assay_version: &str, transport: &str) -> Self {
        Self {
            generator: "assay".to_owned(),
            generator_version: format!("assay {assay_version}"),
            generator_program: None,
            assay_version: assay_version.to_owned(),
            host: host.name.clone(),
            kernel: host.kernel.clone(),
            cpu_model: host.cpu_model.clone(),
            cores: host.cores,
            generator_cores: 0,
            transport: transport.to_owned(),
            protocol: "http/1.1".to_owned(),
        }
    }

    /// The first property in which another one differs: its name, this and the other value. The
    /// number of the generator's cores is told and not compared: a bench may give it fewer.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let cpu = |of: &Self| {
            let model = of.cpu_model.clone().unwrap_or_else(|| "unknown".to_owned());
            format!("{} x {model}", of.cores)
        };
        let over = |of: &Self| format!("{} over {}", of.protocol, of.transport);
        let both = |name, of: &dyn Fn(&Self) -> String| (name, of(self), of(other));
        [
            both("generator", &|of| of.generator.clone()),
            both("generator's version", &|of| of.generator_version.clone()),
            both("generator's program", &|of| of.generator_program.clone().unwrap_or_default()),
            both("version of assay", &|of| of.assay_version.clone()),
            both("host", &|of| of.host.clone()),
            both("kernel", &|of| of.kernel.clone()),
            both("transport", &over),
            both("CPU", &cpu),
        ]
        .into_iter()
        .find(|(_, one, other)| one != other)
    }
}

/// The bounds of a certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Largest error of a percentile or median, as a share of the truth.
    pub error_share: f64,
    /// Smallest share of an arrival rate that must have been sent.
    pub achieved_share: f64,
    /// Largest p99 of the send lag, ns.
    pub lag_ns: u64,
    /// Largest variance of the gaps of a constant rate over their squared mean (D13).
    pub dispersion: f64,
    /// Largest share of a constant latency by which the median error may move over a ladder.
    pub flatness_share: f64,
    /// Largest error of the tail behind a stall, as a share of the truth.
    pub stall_share: f64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            error_share: 0.05,
            achieved_share: 0.99,
            lag_ns: 200_000,
            dispersion: 0.01,
            flatness_share: 0.05,
            stall_share: 0.10,
        }
    }
}

/// Percentiles of one load beside the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// `open` or `closed`.
    pub model: String,
    /// What was asked of it, in words.
    pub asked: String,
    /// Latencies that the generator recorded.
    pub count: u64,
    /// Latencies that the mock recorded.
    pub true_count: u64,
    /// By percentile, `max` last.
    pub quantiles: Vec<Quantile>,
}

/// One percentile by both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// `p50`, ..., `p99.99`, `max`.
    pub name: String,
    /// By the mock: from request read to answer written, ns.
    pub true_ns: Option<u64>,
    /// By the generator, ns.
    pub said_ns: Option<u64>,
    /// The step in which another generator prints it, ns; absent for assay's own histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<u64>,
    /// (said - true) / true.
    pub error_share: Option<f64>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether both sides counted the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CountsAgree {
    /// Runs whose two counts were compared.
    pub runs: u64,
    /// Requests by the mock in all of them.
    pub requests: u64,
    /// Requests that another generator dropped or cut when its time was up, and so did not count,
    /// in all runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Runs in which they differed, each with both counts.
    pub differ: Vec<String>,
}

/// One constant latency and its median by both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// What the mock was asked to sleep, ns.
    pub asked_ns: u64,
    /// Median by the mock, ns.
    pub true_ns: Option<u64>,
    /// Median by the generator, ns.
    pub said_ns: Option<u64>,
    /// The step in which another generator prints it, ns; absent for assay's own histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<u64>,
    /// (said - true) / true.
    pub error_share: Option<f64>,
}

/// One step of a ladder of rates or users.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Requests per second, or users.
    pub asked: f64,
    /// What was served by the mock, per second.
    pub served_per_s: Option<f64>,
    /// Share of the asked rate that was sent; of a closed loop, of what its users and the latency
    /// allow.
    pub achieved_share: Option<f64>,
    /// p99 of the send lag, ns; absent in a closed loop.
    pub lag_p99_ns: Option<u64>,
    /// Median by the mock, ns.
    pub true_ns: Option<u64>,
    /// Median by the generator, ns.
    pub said_ns: Option<u64>,
    /// The step in which another generator prints it, ns; absent for assay's own histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_ns: Option<u64>,
    /// CPU of the generator, as a share of its cores.
    pub generator_share: Option<f64>,
    /// CPU of the mock, as a share of one core.
    pub mock_share: Option<f64>,
    /// Why it is not honest; empty when it is.
    pub doubts: Vec<String>,
}

/// How flat the latency curve is over a ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flatness {
    /// `open` or `closed`.
    pub model: String,
    /// First and last step of the honest part.
    pub over: [f64; 2],
    /// Largest less smallest error of the median, ns.
    pub spread_ns: u64,
    /// The same as a share of the constant latency.
    pub spread_share: f64,
}

/// What a generator shows of a mock that stalls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StallSeen {
    /// `open` or `closed`.
    pub model: String,
    /// The stall, as the mock was asked for it.
    pub stall: String,
    /// p99 that a user who comes at any time meets, by arithmetic, ns.
    pub true_p99_ns: u64,
    /// p99 by the generator, ns.
    pub said_p99_ns: Option<u64>,
    /// Longest stall, ns.
    pub true_max_ns: u64,
    /// Largest latency by the generator, ns.
    pub said_max_ns: Option<u64>,
    /// Whether its p99 shows the stall.
    pub shown: bool,
    /// Whether it shows it by samples that it added and never sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
}

/// The gaps between requests as the mock read them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Rate asked for, per second.
    pub asked_per_s: f64,
    /// Gaps seen.
    pub gaps: u64,
    /// Variance over squared mean; 0 for a perfect clock, 1 for independent arrivals.
    pub dispersion: f64,
}

/// A property and whether it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The property.
    pub name: String,
    /// Whether it holds; absent when it is told and not judged.
    pub holds: Option<bool>,
    /// Whether it should have been judged and the generator tells too little for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unknown: bool,
    /// The figures behind it.
    pub detail: String,
}

/// Why a certificate says nothing here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unusable {
    /// Too old.
    Expired,
    /// Of something else: property, what the certificate is of, what is here.
    Other(&'static str, String, String),
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Expired => f.write_str("it has expired"),
            Self::Other(property, of, here) => {
                write!(f, "it is of another {property}: `{of}`, here `{here}`")
            }
        }
    }
}

impl Sealed for Certificate {
    fn seal(&mut self) -> &mut String {
        &mut self.sha256
    }
}

impl Certificate {
    /// Whether it speaks of `here` at `now_unix_ns`.
    ///
    /// # Errors
    /// Expired, or of something else.
    pub fn usable(&self, here: &CertificateOf, now_unix_ns: u64) -> Result<(), Unusable> {
        if now_unix_ns >= self.expires_unix_ns {
            return Err(Unusable::Expired);
        }
        match self.of.difference(here) {
            Some((property, of, here)) => Err(Unusable::Other(property, of, here)),
            None => Ok(()),
        }
    }

    /// True when every property holds; one that the generator tells too little for does not.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds != Some(false) && !finding.unknown)
    }

    /// What a run attaches of it.
    #[must_use]
    pub fn stub(&self) -> CertificateStub {
        CertificateStub {
            sha256: self.sha256.clone(),
            made_utc: self.made_utc.clone(),
            resolution_ns: self.resolution_ns,
            honest_per_s: self.honest_per_s,
            holds: self.holds(),
        }
    }
}

/// What a run says of the certificate that it was made under.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CertificateStub {
    /// Its hash.
    pub sha256: String,
    /// When it was made, UTC.
    pub made_utc: String,
    /// Smallest latency that the generator tells apart, ns.
    pub resolution_ns: Option<u64>,
    /// Highest honest rate, per second.
    pub honest_per_s: Option<f64>,
    /// Whether every property holds.
    pub holds: bool,
}
