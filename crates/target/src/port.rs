//! Ports: a free one, whether one is taken, and by whom.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::Path;

use observe::procfs::Stat;

/// Who listens on a port, as far as `/proc` tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
}

/// A port that is free on `host` at this moment.
///
/// It is released before the target binds it, so another process can take it in between. The
/// kernel hands out ephemeral ports at random, which makes this rare; it then shows as a target
/// that dies or never gets ready, and is not retried.
///
/// # Errors
/// A host that does not resolve or is not of this machine.
pub(crate) fn free(host: &str) -> io::Result<u16> {
    Ok(TcpListener::bind((host, 0))?.local_addr()?.port())
}

/// Whether something listens on this address already. An address that this machine could not
/// bind for another reason (not its own, not permitted) counts as free: what is wrong with it
/// is for the target to say.
#[must_use]
pub(crate) fn taken(host: &str, port: u16) -> bool {
    let Ok(addresses) = (host, port).to_socket_addrs() else { return false };
    addresses.into_iter().any(|address: SocketAddr| {
        // The standard library sets SO_REUSEADDR: connections that linger do not count.
        matches!(TcpListener::bind(address), Err(error) if error.kind() == io::ErrorKind::AddrInUse)
    })
}

/// The process that listens on a port: `None` when `/proc` does not tell, for instance of
/// another user's process.
#[must_use]
pub(crate) fn holder(proc_root: &Path, port: u16) -> Option<Holder> {
    let inodes: Vec<u64> = ["net/tcp", "net/tcp6"]
        .iter()
        .filter_map(|file| fs::read_to_string(proc_root.join(file)).ok())
        .flat_map(|table| {
            table.lines().filter_map(|l| listening_inode(l, port)).collect::<Vec<_>>()
        })
        .collect();
    if inodes.is_empty() {
        return None;
    }
    let links: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    for entry in fs::read_dir(proc_root).ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(descriptors) = fs::read_dir(entry.path().join("fd")) else { continue };
        let holds = descriptors.flatten().any(|descriptor| {
            fs::read_link(descriptor.path())
                .is_ok_and(|link| links.iter().any(|wanted| link.as_os_str() == wanted.as_str()))
        });
        if holds {
            let name = Stat::read(proc_root, pid).map(|stat| stat.name).unwrap_or_default();
            return Some(Holder { pid, name });
        }
    }
    None
}

/// The inode of a line of `/proc/net/tcp` that listens (state `0A`) on this port.
fn listening_inode(line: &str, port: u16) -> Option<u64> {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let (_, hex) = fields.get(1)?.rsplit_once(':')?;
    let listens = u16::from_str_radix(hex, 16).ok()? == port && *fields.get(3)? == "0A";
    if listens { fields.get(9)?.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_is_seen_and_named() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let port = listener.local_addr().expect("address").port();
        assert!(taken("127.0.0.1", port));
        let found = holder(Path::new("/proc"), port).expect("our own descriptors are readable");
        assert_eq!(found.pid, std::process::id());
        assert!(!found.name.is_empty());
        drop(listener);
        assert!(!taken("127.0.0.1", port));
        assert_eq!(holder(Path::new("/proc"), port), None);
    }

    #[test]
    fn lines_of_the_kernel_table() {
        let line = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 \
                    33 0 123456 1 0000000000000000 100 0 0 10 0";
        assert_eq!(listening_inode(line, 8080), Some(123_456));
        assert_eq!(listening_inode(line, 8081), None);
        assert_eq!(listening_inode(&line.replace(" 0A ", " 01 "), 8080), None);
        for end in 0..line.len() {
            let _ = listening_inode(&line[..end], 8080);
        }
    }

    #[test]
    fn a_free_port_is_free() {
        let port = free("127.0.0.1").expect("port");
        assert!(port > 0);
        assert!(free("no such host").is_err());
        assert!(!taken("no such host", 80));
    }
}
