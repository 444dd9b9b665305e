//! What a machine can be trusted with, before anything is measured on it.
//!
//! [`facts`] reads files under a root, so that the copied `/proc` and `/sys` of another machine can
//! be judged; `probes` measure this machine, each within a bound and all of them in under ten
//! seconds. Both give findings: what was read, what it says, its effect, and the command that mends
//! it. A `demand` is what a bench needs of the machine.
//!
//! Nothing is changed on the machine and no command is run: commands are shown. A sensor that does
//! not tell is unknown, and unknown is never taken for good. The room prints nothing and writes no
//! file but the probe of the disk, which it removes.

mod busy;
mod cgroup;
mod check;
mod class;
mod cores;
mod demand;
mod finding;
mod network;
mod power;
mod probes;
mod room;
mod roots;
#[cfg(test)]
mod tests;
mod timers;

pub use check::{Asked, check, facts};
pub use demand::{Connections, Demand, SPARE_DESCRIPTORS};
pub use probes::{Probed, probe};
pub use room::{Descriptors, descriptors};
pub use roots::Roots;
