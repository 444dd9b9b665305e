//! Bring-ups that go well, and every way in which they do not.

pub(crate) const TESTS: &[(&str, fn())] = &[];
