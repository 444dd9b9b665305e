//! The books of each endpoint of a script.

use std::collections::BTreeMap;

use record::mock::MockEndpoint;

use super::distribution::Distribution;

/// Most names; a script that is changed again and again brings new ones. What is beyond is counted
/// under the last.
const NAMES_MAX: usize = 256;
/// The name of what is beyond.
const OTHERS: &str = "others";

/// Books by number; empty without a script, and then nothing is kept.
#[derive(Debug)]
pub(super) struct Endpoints {
    books: Vec<Book>,
}

#[derive(Debug)]
struct Book {
    name: String,
    served: u64,
    failed: u64,
    /// Made with the first answer: a histogram is large.
    service_ns: Option<Box<Distribution>>,
}

impl Book {
    fn new(name: String) -> Self {
        Self { name, served: 0, failed: 0, service_ns: None }
    }
}

impl Endpoints {
    pub(super) fn new(names: Vec<String>) -> Self {
        Self { books: names.into_iter().map(Book::new).collect() }
    }

    /// The names by their numbers.
    pub(super) fn names(&self) -> Vec<String> {
        self.books.iter().map(|book| book.name.clone()).collect()
    }

    /// The number of a name, which may be new.
    pub(super) fn number(&mut self, name: &str) -> u16 {
        let found = self.books.iter().position(|book| book.name == name);
        let number = found.unwrap_or_else(|| {
            match self.books.len() {
                NAMES_MAX => return NAMES_MAX - 1,
                last if last == NAMES_MAX - 1 => self.books.push(Book::new(OTHERS.to_owned())),
                _ => self.books.push(Book::new(name.to_owned())),
            }
            self.books.len() - 1
        });
        number as u16
    }

    pub(super) fn settled(&mut self, number: u16, served: bool) {
        let Some(book) = self.books.get_mut(usize::from(number)) else { return };
        *(if served { &mut book.served } else { &mut book.failed }) += 1;
    }

    pub(super) fn served(&mut self, number: u16, service_ns: u64) {
        if let Some(book) = self.books.get_mut(usize::from(number)) {
            book.service_ns.get_or_insert_default().add(service_ns);
        }
    }

    pub(super) fn record(&self) -> BTreeMap<String, MockEndpoint> {
        self.books
            .iter()
            .map(|book| {
                let service = book.service_ns.as_deref();
                let endpoint = MockEndpoint {
                    served: book.served,
                    failed: book.failed,
                    service_ns: service.map(Distribution::summarise).unwrap_or_default(),
                    service: service.map(Distribution::encode).unwrap_or_default(),
                };
                (book.name.clone(), endpoint)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers_and_what_is_beyond_is_counted_together() {
        let mut endpoints = Endpoints::new(Vec::new());
        assert!(endpoints.record().is_empty());
        for number in 0..300 {
            let given = endpoints.number(&format!("/{number}"));
            assert_eq!(usize::from(given), number.min(NAMES_MAX - 1));
            endpoints.settled(given, true);
            endpoints.served(given, 1_000);
        }
        assert_eq!(endpoints.number("/7"), 7);
        let record = endpoints.record();
        assert_eq!((record.len(), record[OTHERS].served), (NAMES_MAX, 45));
        assert_eq!(record.values().map(|endpoint| endpoint.served).sum::<u64>(), 300);
        let again = Endpoints::new(endpoints.names());
        assert_eq!(again.record()["/9"], MockEndpoint::default(), "afresh, with its number");
    }
}
