//! The files that a bench refers to: programs made absolute, everything hashed once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use record::meta::FileHash;

use crate::env::Env;
use crate::node::Node;
use crate::problem::Report;
use crate::read::Reading;

/// The files of one plan.
pub(crate) struct Files<'e> {
    dir: &'e Path,
    env: &'e dyn Env,
    found: RefCell<IndexMap<PathBuf, FileHash>>,
    absent: RefCell<HashSet<PathBuf>>,
    /// Files that exist and could not be read, with why.
    unreadable: RefCell<IndexMap<PathBuf, String>>,
}

impl<'e> Files<'e> {
    /// Paths are relative to `dir`, the folder of the bench file.
    pub(crate) fn new(dir: &'e Path, env: &'e dyn Env) -> Self {
        Self {
            dir,
            env,
            found: RefCell::default(),
            absent: RefCell::default(),
            unreadable: RefCell::default(),
        }
    }

    /// The program of a command with its path made absolute, and its arguments, of which those
    /// that name files are hashed. A program without `/` is looked for on the `PATH` at run time.
    pub(crate) fn command(
        &self,
        command: Vec<String>,
        cwd: &Path,
        node: &Node,
        reading: &Reading,
    ) -> Vec<String> {
        let mut arguments = command.into_iter();
        let Some(program) = arguments.next() else { return Vec::new() };
        let mut result = vec![self.program(program, node, reading)];
        for argument in arguments {
            self.argument(&argument, cwd);
            if let Some((_, value)) = argument.split_once('=') {
                self.argument(value, cwd);
            }
            result.push(argument);
        }
        result
    }

    fn program(&self, program: String, node: &Node, reading: &Reading) -> String {
        if !program.contains('/') || program.contains("${") {
            return program;
        }
        let path = clean(&self.dir.join(&program));
        if !self.is_file(&path, &program) {
            let at = node.as_list().and_then(<[Node]>::first).map_or(node.at, |first| first.at);
            let shown: String = program.escape_debug().collect();
            let report = Report::at(at, format!("missing file `{shown}`"));
            reading.report(report.help(format!("looked for `{}`", path.display())));
        }
        path.display().to_string()
    }

    /// A file that a target reads, absolute and hashed; a missing one is reported.
    pub(crate) fn file(&self, name: &str, node: &Node, reading: &Reading) -> String {
        if name.contains("${") {
            return name.to_owned();
        }
        let path = clean(&self.dir.join(name));
        if !self.is_file(&path, name) {
            let shown: String = name.escape_debug().collect();
            let report = Report::at(node.at, format!("missing file `{shown}`"));
            reading.report(report.help(format!("looked for `{}`", path.display())));
        }
        path.display().to_string()
    }

    fn argument(&self, argument: &str, cwd: &Path) {
        if argument.is_empty() || argument.contains("${") {
            return;
        }
        self.is_file(&clean(&cwd.join(argument)), argument);
    }

    /// The directory a target starts in, absolute; a missing one is reported.
    pub(crate) fn directory(&self, cwd: &str, node: Option<&Node>, reading: &Reading) -> PathBuf {
        let path = clean(&self.dir.join(cwd));
        if let Some(node) = node.filter(|_| !cwd.contains("${") && !self.env.is_dir(&path)) {
            let shown: String = cwd.escape_debug().collect();
            let report = Report::at(node.at, format!("missing directory `{shown}`"));
            reading.report(report.help(format!("looked for `{}`", path.display())));
        }
        path
    }

    /// Whether a regular file is there; its hash is kept.
    fn is_file(&self, path: &Path, name: &str) -> bool {
        if self.found.borrow().contains_key(path) || self.unreadable.borrow().contains_key(path) {
            return true;
        }
        if self.absent.borrow().contains(path) {
            return false;
        }
        match self.env.hash(path, name) {
            Ok(Some(hash)) => {
                self.found.borrow_mut().insert(path.to_owned(), hash);
                true
            }
            Ok(None) => {
                self.absent.borrow_mut().insert(path.to_owned());
                false
            }
            Err(error) => {
                self.unreadable.borrow_mut().insert(path.to_owned(), error.to_string());
                true
            }
        }
    }

    /// The hashes in the order in which the files were met, and notes on those without one.
    pub(crate) fn into_hashes(self) -> (Vec<FileHash>, Vec<String>) {
        let notes = self
            .unreadable
            .into_inner()
            .into_iter()
            .map(|(path, why)| format!("`{}` is not hashed: {why}", path.display()))
            .collect();
        (self.found.into_inner().into_values().collect(), notes)
    }
}

/// Without `.` components; `..` stays, since a link before it may lead elsewhere.
fn clean(path: &Path) -> PathBuf {
    path.components().collect()
}
