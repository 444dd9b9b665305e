//! For tests alone: networks of this process's own, to see what narrow settings and slow links do.
//!
//! A [`Namespace`] is a network namespace without a name: a descriptor holds it, so nothing is shared
//! with another test and nothing is left behind, whatever happens to the process. Two of them are
//! joined by [`veth`], or by a [`Link`] that delays and drops packets in user space, since not every
//! kernel has `netem`.
//!
//! It needs root, the program `ip`, and for a link `/dev/net/tun`. What cannot be made is a panic with
//! its reason: a test without its network must fail, not pass.

mod link;
mod namespace;
mod tun;

pub use link::{Conditions, Link};
pub use namespace::{Namespace, veth};
