//! Namespaces, what runs in them, and pairs of virtual Ethernet between them.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process::Command;

use rustix::thread::{LinkNameSpaceType, UnshareFlags};

/// Where a thread's own network namespace is.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace with its loopback up. It ends with the value and the last process in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A fresh one: its own ports, addresses, routes and network settings.
    ///
    /// # Panics
    /// When the system refuses one; without root, for instance.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a namespace is made, not defaulted")]
    pub fn new() -> Self {
        let file = std::thread::spawn(|| {
            unshare().expect("a network namespace: these tests run as root");
            File::open(OWN).expect("proc is mounted")
        });
        let namespace = Self { file: file.join().expect("a network namespace") };
        namespace.ip("link set lo up");
        namespace
    }

    /// Runs `work` in the namespace: sockets that it opens, programs that it starts and what it reads in
    /// `/proc/sys/net` are of there.
    ///
    /// # Panics
    /// When the namespace cannot be entered, or with `work`.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        // On a thread of its own, which never comes back from there.
        std::thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.enter();
                work()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Moves the calling thread into the namespace for good; for threads that outlive a call.
    ///
    /// # Panics
    /// When the namespace cannot be entered.
    pub fn enter(&self) {
        rustix::thread::move_into_link_name_space(
            self.file.as_fd(),
            Some(LinkNameSpaceType::Network),
        )
        .expect("a namespace that is held can be entered");
    }

    /// Sets a kernel setting of the namespace, as `net.ipv4.ip_local_port_range`.
    ///
    /// # Panics
    /// When the kernel has no such setting or refuses the value.
    pub fn set(&self, setting: &str, value: &str) {
        let path = format!("/proc/sys/{}", setting.replace('.', "/"));
        self.run(|| {
            std::fs::write(&path, value).unwrap_or_else(|why| panic!("{setting} = {value}: {why}"));
        });
    }

    /// Runs `ip` with these words in the namespace.
    ///
    /// # Panics
    /// When `ip` is missing or fails, with what it said.
    pub fn ip(&self, words: &str) {
        let done = self.run(|| Command::new("ip").args(words.split_whitespace()).output());
        let done = done.expect("the program `ip` (Debian package iproute2)");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "ip {words}: {said}");
    }

    /// The path by which another program of this process finds the namespace.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }
}

/// Joins two namespaces by a pair of virtual Ethernet devices called `veth`, with these addresses in a
/// network of 24 bits.
///
/// # Panics
/// When the pair cannot be made.
pub fn veth(left: &Namespace, left_address: &str, right: &Namespace, right_address: &str) {
    left.ip(&format!("link add veth type veth peer name veth netns {}", right.path()));
    for (namespace, address) in [(left, left_address), (right, right_address)] {
        namespace.ip(&format!("addr add {address}/24 dev veth"));
        namespace.ip("link set veth up");
    }
}

/// Moves the calling thread into a fresh network namespace.
#[expect(unsafe_code, reason = "the call is unsafe for descriptor tables, which stay shared here")]
fn unshare() -> rustix::io::Result<()> {
    // SAFETY: only `UnshareFlags::FILES` takes descriptors away from other threads; this is not it.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }
}
