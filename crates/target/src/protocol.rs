//! What the parent and a guardian say to each other, over one socket that is the guardian's
//! standard input.
//!
//! The first byte carries three descriptors (`SCM_RIGHTS`): the child's standard input, output
//! and error. Then come JSON lines: one [`Spec`], then any number of [`Order`]s from the
//! parent; [`Event`]s from the guardian. The socket is also the lifeline: it closes when the
//! parent is gone, however it went.

use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, send, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::brake::Brake;

/// Longest line of the protocol, bytes; a job of a generator travels by descriptor, not here.
pub(crate) const LINE_BYTES_MAX: usize = 4 << 20;

/// What a guardian starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) argv: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) env_clear: bool,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) cpus: Vec<u32>,
    pub(crate) brake: Option<Brake>,
}

/// From the parent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Ends the tree with a signal (by number), and after `grace_ns` with SIGKILL.
    Stop { signal: i32, grace_ns: u64 },
    /// Sends a signal (by number) to the child alone.
    Signal { signal: i32 },
    /// Ends the tree with SIGKILL.
    Kill,
}

/// From the guardian.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Event {
    /// The child runs.
    Started { pid: u32, start_ticks: u64 },
    /// The child could not be started.
    Failed { doing: String, why: String },
    /// The child and everything below it has ended, save the pids that are `left`.
    /// Its use is the kernel's account of the whole tree.
    Ended {
        code: Option<i32>,
        signal: Option<i32>,
        left: Vec<u32>,
        #[serde(default)]
        usage: TreeUsage,
    },
}

/// What an ended tree has used, by the kernel's account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeUsage {
    /// User CPU, ns.
    pub cpu_user_ns: u64,
    /// System CPU, ns.
    pub cpu_sys_ns: u64,
    /// Largest resident set of one of its processes, bytes.
    pub peak_rss_bytes: u64,
}

/// Sends one value as a line. A peer that is gone is an error, never a SIGPIPE.
pub(crate) fn send_line<T: Serialize>(socket: impl AsFd, value: &T) -> io::Result<()> {
    let mut line = serde_json::to_vec(value).map_err(io::Error::other)?;
    line.push(b'\n');
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        match send(&socket, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = &rest[sent..],
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Sends the child's standard input, output and error.
pub(crate) fn send_stdio(socket: impl AsFd, stdio: [BorrowedFd<'_>; 3]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let fits = control.push(SendAncillaryMessage::ScmRights(&stdio));
    assert!(fits, "the space is computed for three descriptors");
    sendmsg(socket, &[io::IoSlice::new(b"3")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives the child's standard input, output and error; `None` when the peer is gone.
pub(crate) fn receive_stdio(socket: impl AsFd) -> io::Result<Option<[OwnedFd; 3]>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8];
    let mut into = [io::IoSliceMut::new(&mut byte)];
    let got = loop {
        match recvmsg(&socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    if got.bytes == 0 {
        return Ok(None);
    }
    let descriptors: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    let count = descriptors.len();
    <[OwnedFd; 3]>::try_from(descriptors)
        .map(Some)
        .map_err(|_| io::Error::other(format!("expected 3 descriptors, got {count}")))
}

/// Lines cut out of a stream of bytes.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
}

impl Inbox {
    /// Adds what was received.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next whole line, parsed.
    pub(crate) fn next<T: for<'de> Deserialize<'de>>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.bytes.iter().position(|&byte| byte == b'\n') else {
            if self.bytes.len() > LINE_BYTES_MAX {
                return Err(io::Error::other("a line of the guardian's protocol has no end"));
            }
            return Ok(None);
        };
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        serde_json::from_slice(&line).map(Some).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn descriptors_and_lines_travel_together() {
        let (parent, guardian) = UnixStream::pair().expect("socket pair");
        let (mut probe, out) = UnixStream::pair().expect("socket pair");
        send_stdio(&parent, [out.as_fd(), out.as_fd(), out.as_fd()]).expect("send");
        drop(out);
        send_line(&parent, &Order::Stop { signal: 15, grace_ns: 7 }).expect("send");
        send_line(&parent, &Order::Kill).expect("send");
        let received = receive_stdio(&guardian).expect("receive").expect("peer is there");
        for descriptor in received {
            std::fs::File::from(descriptor).write_all(b"x").expect("write");
        }
        let mut text = String::new();
        probe.read_to_string(&mut text).expect("all copies are closed");
        assert_eq!(text, "xxx");
        drop(parent);
        let mut bytes = Vec::new();
        (&guardian).read_to_end(&mut bytes).expect("read");
        let mut inbox = Inbox::default();
        let (first, second) = bytes.split_at(9);
        inbox.push(first);
        assert_eq!(inbox.next::<Order>().expect("no line yet"), None);
        inbox.push(second);
        assert_eq!(inbox.next().expect("line"), Some(Order::Stop { signal: 15, grace_ns: 7 }));
        assert_eq!(inbox.next().expect("line"), Some(Order::Kill));
        assert_eq!(inbox.next::<Order>().expect("no more"), None);
        assert!(receive_stdio(&guardian).expect("closed").is_none());
    }

    #[test]
    fn a_peer_that_is_gone_is_an_error_and_no_signal() {
        let (parent, guardian) = UnixStream::pair().expect("socket pair");
        drop(guardian);
        let error = send_line(&parent, &Order::Kill).expect_err("nobody is there");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
