//! Panels: what a recording says, aggregated.
