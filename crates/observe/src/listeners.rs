//! Who listens on a port: the sockets of the kernel's table, and which processes of a tree hold
//! them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use record::meta::Listener;

use crate::procfs::{Table, start_ticks};

/// State of a listening socket in `/proc/net/tcp`, hexadecimal (`TCP_LISTEN` in the kernel's
/// `include/net/tcp_states.h`).
const LISTEN: &str = "0A";

/// The processes below `root` that listen on TCP port `port`, sorted; empty when there are none,
/// or where their descriptors may not be read.
#[must_use]
pub fn listeners(root: u32, port: u16) -> Vec<Listener> {
    listeners_from(Path::new("/proc"), root, port)
}

fn listeners_from(proc: &Path, root: u32, port: u16) -> Vec<Listener> {
    let mut pids = Table::read(proc).descendants(root);
    pids.push(root);
    let mut found: Vec<Listener> = pids
        .into_iter()
        .filter(|pid| holds_any(proc, *pid, &listening(proc, *pid, port)))
        .filter_map(|pid| Some(Listener { pid, start_ticks: start_ticks(proc, pid)? }))
        .collect();
    found.sort_unstable();
    found
}

/// Inodes of the sockets that listen on a port, as the process sees its network.
fn listening(proc: &Path, pid: u32, port: u16) -> BTreeSet<String> {
    let net = proc.join(pid.to_string()).join("net");
    let read = |name: &str| fs::read_to_string(net.join(name)).unwrap_or_default();
    let tables = [read("tcp"), read("tcp6")];
    let inode = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (local, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let own = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
        (*state == LISTEN && own == port).then(|| (*inode).to_owned())
    };
    tables.iter().flat_map(|table| table.lines().filter_map(inode)).collect()
}

/// Whether a process has one of these sockets open.
fn holds_any(proc: &Path, pid: u32, inodes: &BTreeSet<String>) -> bool {
    if inodes.is_empty() {
        return false;
    }
    let entries = fs::read_dir(proc.join(pid.to_string()).join("fd")).into_iter().flatten();
    entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok()).any(|link| {
        let link = link.to_string_lossy();
        let inode = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
        inode.is_some_and(|inode| inodes.contains(inode))
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listening_process_is_found_while_it_listens() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        let port = socket.local_addr().expect("bound").port();
        let own = std::process::id();
        let found = listeners(own, port);
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), [own]);
        assert_eq!(Some(found[0].start_ticks), start_ticks(Path::new("/proc"), own));
        assert_eq!(listeners(u32::MAX, port), [], "no such process");
        drop(socket);
        assert_eq!(listeners(own, port), []);
    }
}
