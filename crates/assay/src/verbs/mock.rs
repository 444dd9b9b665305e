//! `assay mock`: serve until told to stop, then say what was seen.

use record::layout;
use record::mock::{MockConfig, MockRecord};

use crate::cli::{JsonTarget, MockArguments};
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &MockArguments, output: &Output) -> Outcome {
    let config = config(arguments)?;
    let server = mock::Server::bind(config).map_err(|error| match error {
        mock::MockError::PortInUse { .. } => Failure::refused(error),
        mock::MockError::Script(_) => Failure::wrong(error),
        error => Failure::failed(error),
    })?;
    if !server.is_loopback() {
        output.remark("note: the mock listens beyond loopback");
    }
    let (asked, effective) = (server.backlog(), server.effective_backlog());
    if let Some(effective) = effective.filter(|effective| *effective < asked) {
        output.remark(&format!(
            "note: the kernel clamps a backlog of {asked} to {effective}; raise \
             net.core.somaxconn, or a full queue of connections will look like a knee"
        ));
    }
    let mut control =
        mock::Control::new().and_then(mock::Control::with_signals).map_err(Failure::failed)?;
    if let Some(JsonTarget::File(path)) = &arguments.json.json {
        let path = path.clone();
        control = control.on_flush(move |record| {
            // The one who asked waits for the file and says so when it does not come.
            let _ = layout::write_json(&path, &record);
        });
    }
    output.remark(&server.config().line());
    output.data(&format!("listening http://{}\n", server.local_addr()))?;
    if let Some(address) = &server.config().control {
        output.data(&format!("control http://{address}\n"))?;
    }
    let record = server.run(control);
    output.result(arguments.json.json.as_ref(), &record, || summary(&record))?;
    Ok(Status::Done)
}

fn config(arguments: &MockArguments) -> Result<MockConfig, Failure> {
    let mut config = MockConfig::default();
    let single = [
        ("listen", Some(&arguments.listen)),
        ("latency", arguments.latency.as_ref()),
        ("body_size", arguments.body_size.as_ref()),
        ("seed", arguments.seed.as_ref()),
        ("stall", arguments.stall.as_ref()),
        ("cold", arguments.cold.as_ref()),
        ("drift", arguments.drift.as_ref()),
        ("slow_after", arguments.slow_after.as_ref()),
        ("spike", arguments.spike.as_ref()),
        ("close", arguments.close.as_ref()),
        ("serialise", arguments.serialise.as_ref()),
        ("workers", arguments.workers.as_ref()),
        ("queue", arguments.queue.as_ref()),
        ("dip", arguments.dip.as_ref()),
        ("rate_limit", arguments.rate_limit.as_ref()),
        ("truth_header", arguments.truth_header.as_ref()),
        ("backlog", arguments.backlog.as_ref()),
        ("script", arguments.script.as_ref()),
        ("bias", arguments.bias.as_ref()),
        ("office", arguments.office.as_ref()),
        ("control", arguments.control.as_ref()),
    ];
    let given = single.into_iter().filter_map(|(key, text)| text.map(|text| (key, text)));
    for (key, text) in given.chain(arguments.fail.iter().map(|text| ("fail", text))) {
        config
            .set(key, text)
            .map_err(|error| Failure::wrong(format!("--{}: {error}", key.replace('_', "-"))))?;
    }
    Ok(config)
}

fn summary(record: &MockRecord) -> String {
    let kinds: Vec<String> =
        record.failures.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let failures =
        if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    format!(
        "served {} ({:.1}/s), failed {}{failures}, peak in flight {}, {} peer ports\n",
        record.served,
        record.served_per_s,
        record.failed,
        record.peak_in_flight,
        record.distinct_peer_ports,
    )
}
