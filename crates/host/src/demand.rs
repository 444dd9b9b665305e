//! What a bench needs of the machine: connections at once, connections per second, whether its
//! target is elsewhere, disk.

use record::plan::{Effective, Model, Plan, TargetKind};

/// Descriptors of a process that are not for connections: epoll sets, standard streams, slack.
pub const SPARE_DESCRIPTORS: u64 = 64;

/// How a bench uses connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Connections {
    /// One for each user, reused.
    Kept,
    /// Opened again and again, at most so often per second; `None` when that cannot be told before.
    Opened {
        /// Connections per second.
        per_s: Option<f64>,
    },
}

/// The needs of a whole matrix: of every cell the largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// The bench's name.
    pub bench: String,
    /// Most users of a cell, each with a connection of its own; 0 when no cell has users.
    pub users: u64,
    /// How connections are used.
    pub connections: Connections,
    /// Whether a target is on another machine.
    pub is_remote: bool,
    /// Measured and warm-up runs.
    pub runs: u64,
    /// Bytes on disk, estimated.
    pub disk_bytes: u64,
}

impl Demand {
    /// The needs of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let cells = || plan.cells.iter().map(|cell| &cell.effective);
        let users = cells().map(|cell| match cell.load.model {
            Model::Users(users) => u64::from(users),
            Model::Rate(_) => 0,
        });
        let opened = cells().filter_map(opened_per_s).reduce(|a, b| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            _ => None,
        });
        Self {
            bench: plan.bench.clone(),
            users: users.max().unwrap_or(0),
            connections: opened.map_or(Connections::Kept, |per_s| Connections::Opened { per_s }),
            is_remote: cells().any(|cell| !is_loopback(cell)),
            runs: plan.runs.len() as u64,
            disk_bytes: plan.estimate.disk_bytes,
        }
    }

    /// Descriptors that generator and mock each need.
    #[must_use]
    pub fn descriptors(&self) -> u64 {
        self.users.saturating_add(SPARE_DESCRIPTORS)
    }
}

/// Connections per second of a cell that does not keep them; `None` for one that does, `Some(None)`
/// where the rate is not known before.
fn opened_per_s(cell: &Effective) -> Option<Option<f64>> {
    let closes_after = match &cell.target.kind {
        TargetKind::Mock(mock) => mock.close_after.filter(|requests| *requests > 0),
        _ => None,
    };
    let each = match (cell.load.connections.as_str(), closes_after) {
        ("per-user", None) => return None,
        ("per-user", Some(requests)) => requests,
        _ => 1,
    };
    let latency_ns = match &cell.target.kind {
        TargetKind::Mock(mock) => Some(mock.latency_ns).filter(|ns| *ns > 0),
        _ => None,
    };
    let requests_per_s = match cell.load.model {
        Model::Rate(per_s) => Some(per_s),
        // As fast as the mock lets users go round; faster is not possible.
        Model::Users(users) => latency_ns.map(|ns| f64::from(users) * 1e9 / ns as f64),
    };
    Some(requests_per_s.map(|per_s| per_s / each as f64))
}

/// Whether a target is on this machine, as far as its address tells. A mock and a process without
/// an address are.
fn is_loopback(cell: &Effective) -> bool {
    let address = match (&cell.target.kind, &cell.target.address) {
        (TargetKind::Url(url), _) => url.split("//").nth(1).unwrap_or(url),
        (_, Some(address)) => address,
        (_, None) => return true,
    };
    let authority = address.split(['/', '?']).next().unwrap_or(address);
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    host == "localhost"
        || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
}
