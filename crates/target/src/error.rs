//! Why a target did not come up, in sentences that name target, place and remedy.

use record::meta::OutcomeState;
use record::units::HumanDuration;

use crate::exit::Exit;
use crate::guarded::TargetError;
use crate::port::Holder;

/// A target did not come up. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum BringUpError {
    /// The port of `address` is held by somebody else.
    #[error("port {port} of target `{target}` is in use{}; stop it or set another `address`", by(.holder.as_ref()))]
    PortInUse {
        /// The target.
        target: String,
        /// The port.
        port: u16,
        /// Who holds it, when `/proc` tells.
        holder: Option<Holder>,
    },
    /// The address is no `host:port`, or the URL is none.
    #[error("target `{target}` has the address `{address}`; write `\"{example}\"`")]
    Address {
        /// The target.
        target: String,
        /// The address as given, redacted.
        address: String,
        /// A valid spelling.
        example: &'static str,
    },
    /// Nothing tells when it is ready.
    #[error(
        "target `{target}` has neither `address` nor `ready.line`; add the one that tells when it is ready"
    )]
    NoAddress {
        /// The target.
        target: String,
    },
    /// No port could be had on the address's host.
    #[error("no free port on `{host}` for target `{target}`: {source}")]
    NoPort {
        /// The target.
        target: String,
        /// The host.
        host: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The program reports another version than the bench pins.
    #[error(
        "target `{target}` is version `{found}`, the bench pins `{expected}`; install that one or change `version.is`"
    )]
    WrongVersion {
        /// The target.
        target: String,
        /// The text that the output must contain.
        expected: String,
        /// The first line of the output that is not empty.
        found: String,
    },
    /// The version could not be asked for.
    #[error("`version.command` of target `{target}` failed: {why}")]
    Version {
        /// The target.
        target: String,
        /// What happened: `exited with code 1: no such option`.
        why: String,
    },
    /// The process could not be started.
    #[error("target `{target}`: {source}")]
    Start {
        /// The target.
        target: String,
        /// Why.
        source: TargetError,
    },
    /// The process ended before it was ready.
    #[error("target `{target}` died before it was ready: {exit}{}", last_lines(.last))]
    Died {
        /// The target.
        target: String,
        /// How it ended.
        exit: Exit,
        /// The last lines of its output, secrets redacted.
        last: Vec<String>,
    },
    /// It was not ready in time.
    #[error("target `{target}` is not ready after {}: {tried}: {error}{}; see `ready` and `ready.within`", HumanDuration(*.within_ns as f64), last_lines(.last))]
    NotReady {
        /// The target.
        target: String,
        /// How long was waited, ns.
        within_ns: u64,
        /// What was tried: `connect to 127.0.0.1:8080`.
        tried: String,
        /// What the last try said.
        error: String,
        /// The last lines of its output, secrets redacted.
        last: Vec<String>,
    },
    /// The user interrupted the wait.
    #[error("interrupted while target `{target}` came up")]
    Interrupted {
        /// The target.
        target: String,
    },
}

impl BringUpError {
    /// The word for the run that this target was meant for.
    #[must_use]
    pub fn outcome(&self) -> OutcomeState {
        match self {
            Self::WrongVersion { .. } | Self::Version { .. } => OutcomeState::WrongVersion,
            Self::Died { .. } => OutcomeState::TargetDied,
            Self::Interrupted { .. } => OutcomeState::Interrupted,
            Self::PortInUse { .. }
            | Self::Address { .. }
            | Self::NoAddress { .. }
            | Self::NoPort { .. }
            | Self::Start { .. }
            | Self::NotReady { .. } => OutcomeState::TargetNotReady,
        }
    }

    /// Whether a precondition did not hold, as opposed to a target that failed: nothing of the
    /// target was started.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::PortInUse { .. }
                | Self::Address { .. }
                | Self::NoAddress { .. }
                | Self::NoPort { .. }
        )
    }
}

fn by(holder: Option<&Holder>) -> String {
    holder.map_or_else(String::new, |holder| format!(" by pid {} (`{}`)", holder.pid, holder.name))
}

fn last_lines(lines: &[String]) -> String {
    if lines.is_empty() {
        String::new()
    } else {
        format!("; its last lines: {}", lines.join(" | "))
    }
}
