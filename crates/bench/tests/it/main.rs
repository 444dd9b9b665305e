//! Tests of the whole path from text to plan.

mod corpus;
mod design;
mod examples;
mod expansion;
mod generators;
mod qualify;
mod refusals;
mod schedule;
mod schema;
mod support;
mod values;
