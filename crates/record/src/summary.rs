//! The figures of one histogram. Filled in by `stats`, which knows how many samples a
//! percentile needs.

use serde::{Deserialize, Serialize};

/// A distribution in nanoseconds. A percentile without enough samples behind it is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Observations.
    pub count: u64,
    /// Smallest, ns.
    pub min: Option<u64>,
    /// Arithmetic mean, ns.
    pub mean: Option<f64>,
    /// Percentiles by nearest rank on the histogram's buckets, ns.
    pub p50: Option<u64>,
    /// 90th percentile, ns.
    pub p90: Option<u64>,
    /// 95th percentile, ns.
    pub p95: Option<u64>,
    /// 99th percentile, ns.
    pub p99: Option<u64>,
    /// 99.9th percentile, ns.
    pub p999: Option<u64>,
    /// Largest, ns.
    pub max: Option<u64>,
}

/// How late sends were against their due instants, ns. All `None` in a closed loop, where a
/// request is due when its user sends it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LagSummary {
    /// Median.
    pub p50: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p999: Option<u64>,
    /// Largest.
    pub max: Option<u64>,
}
