//! Tests of the whole path from text to plan.

mod corpus;
mod expansion;
mod schema;
mod support;
