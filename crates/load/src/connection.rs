//! One connection and the request that it carries.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::sockopt::{set_tcp_nodelay, socket_error};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, connect, getsockname, recv,
    send, socket_with,
};

use crate::body::Body;
use crate::phases::Phase;
use crate::recorder::Times;
use crate::response::ResponseParser;

/// Where a connection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Closed,
    Connecting,
    Idle,
    Writing,
    Reading,
}

/// A request on its way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) phase: Phase,
    pub(crate) times: Times,
    /// When the attempt began; the timeout counts from here.
    pub(crate) attempt_ns: u64,
}

/// A slot for one connection after another.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Option<OwnedFd>,
    /// Incremented at each close, so that an event of the previous socket is recognised.
    pub(crate) generation: u32,
    pub(crate) stage: Stage,
    pub(crate) in_flight: Option<InFlight>,
    /// Bytes of the request written so far.
    pub(crate) written: usize,
    pub(crate) parser: ResponseParser,
    pub(crate) body: Body,
}

impl Connection {
    pub(crate) fn new() -> Self {
        Self {
            socket: None,
            generation: 0,
            stage: Stage::Closed,
            in_flight: None,
            written: 0,
            parser: ResponseParser::default(),
            body: Body::default(),
        }
    }

    pub(crate) fn close(&mut self) {
        self.socket = None;
        self.generation = self.generation.wrapping_add(1);
        self.stage = Stage::Closed;
    }

    fn fd(&self) -> &OwnedFd {
        self.socket.as_ref().expect("a connection past `Closed` has a socket")
    }

    /// The outcome of a non-blocking connect, and the local port.
    pub(crate) fn finish_connect(&self) -> io::Result<u16> {
        socket_error(self.fd())??;
        let local = getsockname(self.fd())?;
        Ok(SocketAddr::try_from(local).map_or(0, |address| address.port()))
    }

    /// Writes what is left of the request. `Ok(true)` when all of it is written.
    #[inline]
    pub(crate) fn write(&mut self, request: &[u8]) -> Result<bool, Errno> {
        loop {
            match send(self.fd(), &request[self.written..], SendFlags::NOSIGNAL) {
                Ok(written) => {
                    self.written += written;
                    if self.written == request.len() {
                        return Ok(true);
                    }
                }
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Reads what there is; `Ok(None)` when there is nothing now, `Ok(Some(0))` at the end.
    #[inline]
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, Errno> {
        loop {
            match recv(self.fd(), &mut *buffer, RecvFlags::empty()) {
                Ok((read, _)) => return Ok(Some(read)),
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

/// Begins a non-blocking connect, from `source` where one is given. Whether it is already established is learnt from `epoll`.
pub(crate) fn begin_connect(
    address: &SocketAddr,
    source: Option<IpAddr>,
) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(errno) => Err(errno),
    }
}
