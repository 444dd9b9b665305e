//! The command line of `assay load`.

use std::path::PathBuf;

use clap::Args;
use record::sources::SourceRange;
use record::units;

use super::JsonArgument;

/// `assay load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArguments {
    /// `http://host:port/path`.
    #[arg(value_name = "URL")]
    pub(crate) url: String,
    /// Users of a closed loop; with `--rate`, the cap on connections.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) connections: Option<u32>,
    /// Constant arrival rate of an open loop, as `2000/s`.
    #[arg(long, value_name = "R", value_parser = rate)]
    pub(crate) rate: Option<f64>,
    /// Rates of an open loop one after the other: `200/s for 10s, to 1000/s in 30s`.
    #[arg(long, value_name = "S", value_parser = stages, conflicts_with_all = ["rate", "duration"])]
    pub(crate) stages: Option<Stages>,
    /// Exponential gaps between arrivals, drawn from a seed, instead of even ones.
    #[arg(long, value_name = "SEED", num_args = 0..=1, default_missing_value = "1")]
    pub(crate) poisson: Option<u64>,
    /// Pause of a user after each answer.
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "pacing")]
    pub(crate) think: Option<u64>,
    /// From one request of a user to its next.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) pacing: Option<u64>,
    /// Length of the measured window.
    #[arg(short, long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) duration: u64,
    /// Exactly so many requests instead of a length of time.
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with_all = ["duration", "stages"])]
    pub(crate) requests: Option<u64>,
    /// So many requests split evenly over the users, rounded up to a multiple of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with_all = ["duration", "stages", "requests"])]
    pub(crate) iterations: Option<u64>,
    /// Method; POST with a body, else GET.
    #[arg(short = 'X', long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// A header of the request, as `Name: value`; may be repeated.
    #[arg(short = 'H', long = "header", value_name = "HEADER", value_parser = header)]
    pub(crate) headers: Vec<(String, String)>,
    /// Body of the request; `@FILE` reads it from a file.
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) body: Option<String>,
    /// Addresses that connections come from, in turn: `127.0.0.2`, `127.0.0.2-127.0.0.9`,
    /// `127.0.1.0/24`; may be repeated.
    #[arg(long, value_name = "ADDRESSES", value_parser = source)]
    pub(crate) source: Vec<SourceRange>,
    /// A connection for each request instead of kept ones.
    #[arg(long)]
    pub(crate) new_connections: bool,
    /// Discarded before the window.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = duration)]
    pub(crate) warmup: u64,
    /// Bound on draining after the window.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub(crate) cooldown: u64,
    /// After this a request in flight has failed.
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub(crate) timeout: u64,
    /// Threads; one for each core of the affinity mask without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Option<u32>,
    /// Status that counts as success.
    #[arg(long, value_name = "STATUS", default_value_t = 200, value_parser = clap::value_parser!(u16).range(100..=599))]
    pub(crate) expect_status: u16,
    /// Body that counts as success, byte for byte.
    #[arg(long, value_name = "TEXT")]
    pub(crate) expect_body: Option<String>,
    /// Writes the window second by second as comma-separated values.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Writes the latencies second by second as a log of HdrHistogram, version 1.3.
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr: Option<PathBuf>,
    /// Writes the figures as OpenMetrics text.
    #[arg(long, value_name = "FILE")]
    pub(crate) openmetrics: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

fn source(text: &str) -> Result<SourceRange, String> {
    SourceRange::parse(text).map_err(|error| error.to_string())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| format!("`{text}` is no header; write `Accept: text/html`"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Stages as one argument.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stages(pub(crate) Vec<record::arrival::Stage>);

fn stages(text: &str) -> Result<Stages, String> {
    record::arrival::stages(text.split(',')).map(Stages).map_err(|error| error.to_string())
}

pub(super) fn duration(text: &str) -> Result<u64, String> {
    units::duration_ns(text).map_err(|error| error.to_string())
}

fn rate(text: &str) -> Result<f64, String> {
    units::rate_per_s(text).map_err(|error| error.to_string())
}
