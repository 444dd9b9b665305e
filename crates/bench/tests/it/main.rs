//! Tests of the whole path from text to plan.

mod expansion;
mod support;
