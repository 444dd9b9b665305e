//! The calibration of a host, a transport and a target: what a ramp of load says before any matrix
//! is made. `assay.calibration`.

use serde::{Deserialize, Serialize};

use crate::Format;
use crate::meta::HostFacts;
use crate::seal::Sealed;

/// A calibration. Kept as one file with its own SHA-256.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// `assay.calibration`.
    pub format: Format,
    /// SHA-256 of this file's compact JSON with this field empty, lower-case hex.
    pub sha256: String,
    /// When the last of its runs was made, UTC.
    pub made_utc: String,
    /// The same, ns since 1970.
    pub made_unix_ns: u64,
    /// What it is of.
    pub of: CalibrationOf,
    /// The ramp with kept connections (`keep-alive`), then with one for each request (`close`).
    pub ramps: Vec<Ramp>,
    /// What a connection costs beside a kept one, at the lowest point.
    #[serde(default)]
    pub price: Option<Price>,
    /// Sentences for people: what failed, what disagrees.
    pub notes: Vec<String>,
    /// Label directory of the runs behind it, as it was named.
    pub runs: String,
}

/// What a calibration is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalibrationOf {
    /// The host.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Cores of the host.
    pub cores: u32,
    /// Transport: `p0` is plaintext.
    pub transport: String,
    /// Arrival model: `closed` or `open`.
    pub model: String,
    /// Target and scenario, told and not compared.
    #[serde(default)]
    pub target: String,
}

impl CalibrationOf {
    /// What a bench asks of this host.
    #[must_use]
    pub fn of(host: &HostFacts, transport: &str, model: &str, target: &str) -> Self {
        Self {
            host: host.name.clone(),
            kernel: host.kernel.clone(),
            cpu_model: host.cpu_model.clone(),
            cores: host.cores,
            transport: transport.to_owned(),
            model: model.to_owned(),
            target: target.to_owned(),
        }
    }

    /// The first property in which another one differs: its name, this and the other value.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let cpu = |of: &Self| {
            let model = of.cpu_model.clone().unwrap_or_else(|| "unknown".to_owned());
            format!("{} x {model}", of.cores)
        };
        [
            ("host", self.host.clone(), other.host.clone()),
            ("kernel", self.kernel.clone(), other.kernel.clone()),
            ("CPU", cpu(self), cpu(other)),
            ("transport", self.transport.clone(), other.transport.clone()),
            ("arrival model", self.model.clone(), other.model.clone()),
        ]
        .into_iter()
        .find(|(_, one, other)| one != other)
    }
}

/// A ramp of load in one connection mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ramp {
    /// `keep-alive` or `close`.
    pub mode: String,
    /// Ascending.
    pub points: Vec<Point>,
    /// The lowest point once more, after the last.
    pub repeat: Option<Point>,
    /// What a request's time is judged by: `unowned`, or `wait` where the target does not say what
    /// it spends.
    pub basis: String,
    /// |repeat - lowest| of the mean of the basis, ns: what this host and mode call no difference.
    pub noise_floor_ns: Option<f64>,
    /// Last load on the baseline and first that left it.
    pub knee: Option<[f64; 2]>,
    /// Where throughput stops growing, by the rule that is not to be used.
    #[serde(default)]
    pub plateau: Option<f64>,
}

/// One point of a ramp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Users, or arrivals per second.
    pub load: f64,
    /// Successes per second.
    pub rate_per_s: f64,
    /// Requests that failed.
    pub failed: u64,
    /// Mean time from when a user wanted to send to the last byte, ns.
    pub wait_mean_ns: Option<f64>,
    /// Mean of what of it the target did not say that it spent, ns.
    pub unowned_mean_ns: Option<f64>,
    /// Its 99th percentile, ns.
    pub unowned_p99_ns: Option<u64>,
    /// Connections opened in the window for each success.
    pub connections_per_request: f64,
    /// CPU of the target for each success, ns.
    pub target_cpu_ns: Option<f64>,
    /// CPU of the generator for each success, ns.
    pub generator_cpu_ns: Option<f64>,
    /// Gates that made it void or a bound.
    pub doubts: Vec<String>,
}

/// The price of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Time of a request with a connection of its own beyond one on a kept connection, ns.
    pub time_ns: f64,
    /// The larger of both noise floors, ns: a price below it is not resolved.
    pub noise_floor_ns: f64,
    /// CPU of the target, ns.
    pub target_cpu_ns: Option<f64>,
    /// CPU of the generator, ns.
    pub generator_cpu_ns: Option<f64>,
}

impl Sealed for Calibration {
    fn seal(&mut self) -> &mut String {
        &mut self.sha256
    }
}

impl Calibration {
    /// The ramp of a connection mode of a bench: `new` is `close`, all else keeps them.
    #[must_use]
    pub fn ramp(&self, connections: &str) -> Option<&Ramp> {
        let mode = if connections == "new" { CLOSE } else { KEEP_ALIVE };
        self.ramps.iter().find(|ramp| ramp.mode == mode)
    }
}

/// The mode of kept connections.
pub const KEEP_ALIVE: &str = "keep-alive";
/// The mode of a connection for each request.
pub const CLOSE: &str = "close";
