//! One file per verb.

pub(crate) mod calibrate;
pub(crate) mod certify;
pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod digest;
pub(crate) mod drill;
pub(crate) mod host;
pub(crate) mod load;
pub(crate) mod mock;
pub(crate) mod plan;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod selftest;
pub(crate) mod shell;
pub(crate) mod status;
pub(crate) mod two_labels;
