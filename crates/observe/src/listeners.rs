//! Who listens on a port: the sockets of the kernel's table, and which processes of a tree hold
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

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
    // A tree is in one network namespace as a rule, whose table is read once: the kernel goes through
    // its whole hash of sockets for it.
    let mut tables: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut found: Vec<Listener> = pids
        .into_iter()
        .filter(|pid| {
            let own = proc.join(pid.to_string());
            let namespace = fs::read_link(own.join("ns/net")).unwrap_or(own);
            let inodes = tables.entry(namespace).or_insert_with(|| listening(proc, *pid, port));
            holds_any(proc, *pid, inodes)
        })
        .filter_map(|pid| Some(Listener { pid, start_ticks: start_ticks(proc, pid)? }))
        .collect();
    found.sort_unstable();
    found
}

/// Bytes of one line of `/proc/net/tcp`. The kernel fills what it is asked for and goes one socket
/// further: larger reads would send it through the table of connections behind the listeners.
const LINE_BYTES: usize = 150;

/// Inodes of the sockets that listen on a port, as the process sees its network. Listeners come
/// first in the kernel's table; what follows is not read.
fn listening(proc: &Path, pid: u32, port: u16) -> BTreeSet<String> {
    let net = proc.join(pid.to_string()).join("net");
    let mut found = BTreeSet::new();
    for name in ["tcp", "tcp6"] {
        let Ok(file) = File::open(net.join(name)) else { continue };
        let lines = BufReader::with_capacity(LINE_BYTES, file).lines();
        for line in lines.skip(1).map_while(Result::ok) {
            let Some(socket) = Socket::of(&line) else { continue };
            if !socket.listens {
                break;
            }
            if socket.port == port {
                found.insert(socket.inode.to_owned());
            }
        }
    }
    found
}

/// What a line of the table says.
struct Socket<'l> {
    port: u16,
    listens: bool,
    inode: &'l str,
}

impl<'l> Socket<'l> {
    fn of(line: &'l str) -> Option<Self> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let port = u16::from_str_radix(fields.get(1)?.rsplit(':').next()?, 16).ok()?;
        Some(Self { port, listens: *fields.get(3)? == LISTEN, inode: fields.get(9)? })
    }
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
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_listening_process_is_found_while_it_listens() {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port of loopback");
        // Listeners before and behind it, and a connection that is none.
        let others: Vec<_> =
            (0..8).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
        let other = others[0].local_addr().expect("bound");
        let _connected = TcpStream::connect(other).expect("it listens");
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
