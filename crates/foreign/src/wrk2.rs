//! wrk2: wrk at a constant rate, with latencies from when a request was due. Its outputs are read;
//! it is not started.

use record::foreign::{ForeignRecord, Quantile};

use crate::adapter::{Abilities, Adapter, checked};
use crate::error::ReadError;
use crate::job::Output;
use crate::{figure, wrk};

const NAME: &str = "wrk2";

pub(crate) const ADAPTER: Adapter = Adapter {
    name: NAME,
    abilities: Abilities {
        users: false,
        rate: true,
        keep_alive: true,
        close: true,
        duration: true,
        count: false,
        whole_seconds: true,
        methods: &[],
        script: true,
        quantiles: "p50 to p100 and the whole spectrum",
        resolution: "1 us in the spectrum; printed text has 3 digits",
    },
    clock: "from when the request was due to the last byte read",
    omits_connect: true,
    corrects_omission: true,
    adds_samples: false,
    omits_failures: false,
    drops_in_flight: true,
    counts_unanswered: false,
    probe_connections: 1,
    version: &["wrk2", "--version"],
    good_codes: &[],
    ask: None,
    read,
};

fn read(output: &Output<'_>) -> Result<ForeignRecord, ReadError> {
    if output.stdout.trim().is_empty() {
        return Err(ReadError::Empty { adapter: NAME });
    }
    // With `--u_latency` a second distribution follows, from when requests were sent: the first,
    // which is the corrected one, counts.
    let first = output.stdout.split("Uncorrected Latency").next().unwrap_or_default();
    let end = output.stdout.rfind("requests in").map_or("", |at| {
        let line = output.stdout[..at].rfind('\n').map_or(0, |start| start + 1);
        &output.stdout[line..]
    });
    let text =
        if first.contains("requests in") { first.to_owned() } else { format!("{first}\n{end}") };
    let mut record = wrk::summary(NAME, &text)?;
    // `       1.201     0.990625          594       106.67`, in ms.
    let mut spectrum = Vec::new();
    for line in first.lines() {
        let words: Vec<&str> = line.split_whitespace().take(5).collect();
        let [value, share, count, _] = words[..] else { continue };
        let (Some(value), Some(share), Some(_)) =
            (figure::scaled(value, 1e6), figure::number(share), figure::count(count))
        else {
            continue;
        };
        if (0.0..1.0).contains(&share) {
            spectrum.push(Quantile { share: figure::share_of(100.0 * share), figure: value });
        }
    }
    // The spectrum has the finer step of the two: equal shares are taken from it.
    spectrum.append(&mut record.quantiles);
    record.quantiles = spectrum;
    checked(NAME, record)
}
