//! Tests of the whole path from text to plan.

mod corpus;
mod expansion;
mod refusals;
mod schema;
mod support;
mod values;
