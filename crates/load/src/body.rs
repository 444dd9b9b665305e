//! Checks of a body as it streams by: nothing is kept but its size, the first bytes for a
//! sample, and, for a search, at most one MiB.

use record::plan::{BodyCheck, Expect};

use crate::failure::{Kind, SAMPLE_BYTES};

/// Bytes of a body that `contains` searches.
const MOST_SEARCHED: usize = 1 << 20;

/// What is known of the body of one answer.
#[derive(Debug, Default)]
pub(crate) struct Body {
    size: u64,
    /// False from the first byte that differs from `equals`.
    equal: bool,
    /// The first bytes: [`SAMPLE_BYTES`], or [`MOST_SEARCHED`] when a text is searched.
    start: Vec<u8>,
}

impl Body {
    /// Forgets the previous answer.
    pub(crate) fn begin(&mut self) {
        self.size = 0;
        self.equal = true;
        self.start.clear();
    }

    /// Takes the next bytes.
    #[inline]
    pub(crate) fn take(&mut self, bytes: &[u8], expect: &Expect) {
        let mut keep = SAMPLE_BYTES;
        match &expect.body {
            Some(BodyCheck::Equals(text)) => {
                let from = usize::try_from(self.size).unwrap_or(usize::MAX);
                let expected = text.as_bytes().get(from..).and_then(|rest| rest.get(..bytes.len()));
                self.equal = self.equal && expected == Some(bytes);
            }
            Some(BodyCheck::Contains(_)) => keep = MOST_SEARCHED,
            None => {}
        }
        if self.start.len() < keep {
            let more = bytes.len().min(keep - self.start.len());
            self.start.extend_from_slice(&bytes[..more]);
        }
        self.size += bytes.len() as u64;
    }

    /// The first bytes seen.
    pub(crate) fn start(&self) -> &[u8] {
        &self.start
    }

    /// Judges the complete answer; the sentence says what was expected and what came.
    pub(crate) fn verdict(&self, status: u16, expect: &Expect) -> Result<(), (Kind, String)> {
        if !expect.status.contains(&status) {
            let expected: Vec<String> = expect.status.iter().map(u16::to_string).collect();
            return Err((
                Kind::Status,
                format!("status {status}, expected {}", expected.join(" or ")),
            ));
        }
        if let Some(expected) = expect.size_bytes
            && expected != self.size
        {
            return Err((Kind::Body, format!("body of {} bytes, expected {expected}", self.size)));
        }
        match &expect.body {
            Some(BodyCheck::Equals(text)) if !self.equal || self.size != text.len() as u64 => {
                Err((
                    Kind::Body,
                    format!(
                        "body of {} bytes differs from the {} expected bytes",
                        self.size,
                        text.len()
                    ),
                ))
            }
            Some(BodyCheck::Contains(text))
                if memchr::memmem::find(&self.start, text.as_bytes()).is_none() =>
            {
                Err((Kind::Body, format!("body of {} bytes does not contain `{text}`", self.size)))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(expect: &Expect, status: u16, parts: &[&str]) -> Result<(), (Kind, String)> {
        let mut body = Body::default();
        body.begin();
        for part in parts {
            body.take(part.as_bytes(), expect);
        }
        body.verdict(status, expect)
    }

    #[test]
    fn table() {
        let equals = Expect {
            status: vec![200, 204],
            body: Some(BodyCheck::Equals("hello".into())),
            size_bytes: None,
        };
        assert_eq!(judge(&equals, 200, &["hello"]), Ok(()));
        assert_eq!(judge(&equals, 204, &["he", "l", "lo"]), Ok(()));
        for wrong in [&["hell"][..], &["hello!"], &["hellO"], &["he", "xlo"], &[]] {
            assert_eq!(judge(&equals, 200, wrong).unwrap_err().0, Kind::Body, "{wrong:?}");
        }
        let (kind, detail) = judge(&equals, 503, &["hello"]).unwrap_err();
        assert_eq!((kind, detail.as_str()), (Kind::Status, "status 503, expected 200 or 204"));

        let contains = Expect {
            status: vec![200],
            body: Some(BodyCheck::Contains("lo w".into())),
            size_bytes: None,
        };
        assert_eq!(judge(&contains, 200, &["hello", " world"]), Ok(()));
        assert!(judge(&contains, 200, &["hello"]).is_err());

        let size = Expect { status: vec![200], body: None, size_bytes: Some(5) };
        assert_eq!(judge(&size, 200, &["hello"]), Ok(()));
        assert_eq!(judge(&size, 200, &["hell"]).unwrap_err().1, "body of 4 bytes, expected 5");
    }

    #[test]
    fn the_sample_is_bounded() {
        let expect = Expect { status: vec![200], body: None, size_bytes: None };
        let mut body = Body::default();
        body.begin();
        for _ in 0..10 {
            body.take(&[b'x'; 400], &expect);
        }
        assert_eq!(body.start().len(), SAMPLE_BYTES);
        assert_eq!(body.size, 4000);
    }
}
