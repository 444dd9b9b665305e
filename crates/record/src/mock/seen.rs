//! The record that the mock leaves: what it saw.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{MockConfig, Office};
use crate::{Format, Summary};

/// The mock record: an independent witness of the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MockRecord {
    /// `assay.mock`.
    pub format: Format,
    /// Requests read in full and answered as configured.
    pub served: u64,
    /// Requests read in full and failed: planned failures, and answers nobody took.
    pub failed: u64,
    /// Failures by kind: `status`, `body`, `reset`, `never`, `abandoned` (the peer left before
    /// its answer), `overloaded` (the queue was full), `limited` (over the rate of its address);
    /// `malformed` is not among them: such bytes are no request.
    #[serde(default)]
    pub failures: BTreeMap<String, u64>,
    /// Bytes that were no HTTP request: connections closed for it.
    #[serde(default)]
    pub malformed: u64,
    /// `served` over `window_ns`.
    pub served_per_s: f64,
    /// From the first request read to the last answer written, ns.
    pub window_ns: u64,
    /// Most requests in flight at one instant.
    pub peak_in_flight: u64,
    /// From request read to answer written, ns.
    pub service_ns: Summary,
    /// Time in the queue for a worker and for the serialised section, ns, of requests that slept.
    #[serde(default)]
    pub queued_ns: Summary,
    /// What was asked of the clock and what was slept.
    pub sleep: Sleep,
    /// Histograms by name, HdrHistogram V2 (deflate) in base64, values in ns: `service`, `slept`,
    /// `queued` as the summaries of these names, `gap` of [`MockRecord::arrivals`]. A digest leaves
    /// them out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, String>,
    /// The times between successive requests read.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Distinct peer ports seen, of 65,536.
    pub distinct_peer_ports: u64,
    /// The first and last ephemeral port of the mock's host, where that could be read.
    #[serde(default)]
    pub port_range: Option<(u16, u16)>,
    /// More distinct ports than a quarter of the ephemeral range: ports come again, so their
    /// number says little of the number of connections, and nothing is derived from it.
    #[serde(default)]
    pub ports_saturated: bool,
    /// Connections accepted.
    #[serde(default)]
    pub accepted: u64,
    /// `accepted` over `window_ns`; absent when the map of ports is saturated or there was no window.
    #[serde(default)]
    pub accepted_per_s: Option<f64>,
    /// The mock's own CPU, user and system, over its life, ns.
    pub cpu_ns: u64,
    /// The mock's own life, ns.
    #[serde(default)]
    pub life_ns: u64,
    /// The backlog in effect after the kernel's clamp, where that could be read.
    #[serde(default)]
    pub backlog_effective: Option<u32>,
    /// Answers written in each second of the mock's life in which there were any; of the first day.
    #[serde(default)]
    pub series: Vec<MockSecond>,
    /// The configuration in effect.
    pub config: MockConfig,
    /// The same on one line, for people: [`MockConfig::line`].
    #[serde(default)]
    pub config_line: String,
    /// What the mock is there for; absent in records of earlier versions.
    #[serde(default)]
    pub office: Option<Office>,
    /// SHA-256 of the script in effect.
    #[serde(default)]
    pub script_sha256: Option<String>,
    /// How often the control port changed the script since the start: the configuration and books of
    /// one record may be of several.
    #[serde(default)]
    pub script_changes: u32,
    /// By `METHOD PATH` of the script; without one all is `/`.
    #[serde(default)]
    pub endpoints: BTreeMap<String, MockEndpoint>,
}

/// One endpoint of the mock. Requests that settled add up to those of the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MockEndpoint {
    /// Requests answered as configured.
    pub served: u64,
    /// Requests that failed, by any kind.
    pub failed: u64,
    /// From request read to answer written, of what was served, ns.
    pub service_ns: Summary,
    /// Its histogram as in [`MockRecord::histograms`]; not in a digest.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub service: String,
}

/// The arrival law as the mock saw it: the times between successive requests read, whatever their
/// connection. Requests that one read of a socket brought have a gap of 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Gaps: one less than the requests read since the start or flush.
    pub count: u64,
    /// Their mean, ns.
    pub mean_ns: f64,
    /// Their sample variance, ns²; 0 below two gaps.
    pub variance_ns2: f64,
}

/// One second of the mock's own clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockSecond {
    /// Which, from 0 at the start of the record.
    pub second: u32,
    /// Answers as configured.
    pub served: u64,
    /// Answers that were failures: planned statuses and bodies, refusals.
    pub failed: u64,
}

/// Sleep asked and slept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sleep {
    /// Sum of the sleeps asked for, ns.
    pub asked_ns: u64,
    /// The sleeps as they were, ns.
    pub slept_ns: Summary,
}
