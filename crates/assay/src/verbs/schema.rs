//! `assay schema`: the JSON Schema of the bench file.

use crate::cli::SchemaArguments;
use crate::exit::{Failure, Outcome, Status};
use crate::output::Output;

pub(crate) fn run(arguments: &SchemaArguments, output: &Output) -> Outcome {
    let schema = bench::schema();
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
    output.result(arguments.json.json.as_ref(), &schema, || text + "\n")?;
    Ok(Status::Done)
}
