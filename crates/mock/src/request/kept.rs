//! What a script sees of a request: its head, and its body within a bound.

/// Most bytes of a body that are kept; the rest is read and discarded.
pub(crate) const KEPT_BODY_MAX_BYTES: usize = 4 << 20;
/// Capacity that stays with a connection between requests.
const IDLE_BYTES: usize = 64 * 1024;

/// A request, kept.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) head: Vec<u8>,
    pub(crate) body: Vec<u8>,
    /// The body was longer than what is kept of it.
    pub(crate) cut: bool,
}

impl Kept {
    /// A head was read in full; what was kept before is over.
    pub(super) fn begin(&mut self, head: &[u8]) {
        self.head.clear();
        self.head.extend_from_slice(head);
        self.body.clear();
        if self.body.capacity() > IDLE_BYTES {
            self.body = Vec::new();
        }
        self.cut = false;
    }

    /// More of the body, without its framing.
    pub(super) fn content(&mut self, bytes: &[u8]) {
        let room = KEPT_BODY_MAX_BYTES - self.body.len();
        self.cut |= bytes.len() > room;
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_kept_up_to_the_bound_and_then_cut() {
        let mut kept = Kept::default();
        kept.begin(b"POST / HTTP/1.1\r\n\r\n");
        kept.content(&vec![b'a'; KEPT_BODY_MAX_BYTES - 1]);
        kept.content(b"b");
        assert!(!kept.cut);
        kept.content(b"c");
        assert_eq!((kept.cut, kept.body.len()), (true, KEPT_BODY_MAX_BYTES));
        kept.begin(b"GET / HTTP/1.1\r\n\r\n");
        assert_eq!((kept.cut, kept.body.len(), kept.body.capacity()), (false, 0, 0));
    }
}
