//! The listening socket.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use crate::MockError;

/// What the kernel caps a backlog at, of this network namespace.
const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";

/// The backlog in effect where `backlog` was asked for: the kernel clamps in silence. `None` where
/// its limit cannot be read.
pub(crate) fn effective_backlog(backlog: u32) -> Option<u32> {
    let most: u32 = std::fs::read_to_string(SOMAXCONN).ok()?.trim().parse().ok()?;
    Some(backlog.min(most))
}

/// Listens on `listen` (`host:port`, the first address it resolves to), without blocking; at most
/// `backlog` connections may wait to be accepted.
///
/// # Errors
/// [`MockError::Listen`], [`MockError::PortInUse`] or [`MockError::Bind`].
pub(crate) fn listen(listen: &str, backlog: u32) -> Result<(OwnedFd, SocketAddr), MockError> {
    let unusable = |reason: String| MockError::Listen { listen: listen.to_owned(), reason };
    let address = listen
        .to_socket_addrs()
        .map_err(|error| unusable(error.to_string()))?
        .next()
        .ok_or_else(|| unusable("it resolves to no address".to_owned()))?;
    open(address, backlog).map_err(|errno| match errno {
        Errno::ADDRINUSE => MockError::PortInUse(address),
        errno => MockError::Bind { address, source: io::Error::from(errno) },
    })
}

fn open(address: SocketAddr, backlog: u32) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    // A mock restarted at once must not wait for the connections of the one before it.
    sockopt::set_socket_reuseaddr(&socket, true)?;
    // Accepted sockets inherit it: no system call for each.
    sockopt::set_tcp_nodelay(&socket, true)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, i32::try_from(backlog).unwrap_or(i32::MAX))?;
    let bound = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok((socket, bound))
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn accepted_sockets_inherit_no_delay() {
        let (listener, address) = listen("127.0.0.1:0", 8).expect("a free port");
        let _client = TcpStream::connect(address).expect("it listens");
        let (accepted, _) =
            net::acceptfrom_with(&listener, SocketFlags::CLOEXEC).expect("connected already");
        assert_eq!(sockopt::tcp_nodelay(&accepted), Ok(true));
    }

    #[test]
    fn errors_say_what_to_write() {
        let (_listener, address) = listen("127.0.0.1:0", 8).expect("a free port");
        let taken = listen(&address.to_string(), 8).expect_err("taken");
        assert!(matches!(taken, MockError::PortInUse(at) if at == address));
        let port = address.port().to_string();
        insta::assert_snapshot!(
            taken.to_string().replace(&port, "PORT"),
            @"port PORT of 127.0.0.1 is in use; stop its owner, or use port 0 for any free port"
        );
        insta::assert_snapshot!(
            listen("8080", 8).expect_err("no host"),
            @"cannot listen on `8080`: invalid socket address; write `127.0.0.1:8080`, or port 0 for any free port"
        );
        // An address of no interface here (RFC 5737).
        let elsewhere = listen("192.0.2.1:1", 8).expect_err("not ours");
        assert!(matches!(elsewhere, MockError::Bind { .. }), "{elsewhere}");
    }
}
