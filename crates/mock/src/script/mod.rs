//! The script of a mock: TOML text to what is answered on which path.
//!
//! Reading is pure but for the files of bodies, which come through a loader. An error names file, line
//! and column, says what was expected, and the nearest valid word. Everything is bounded: the text,
//! the number of endpoints, the bodies.

mod endpoint;
mod families;
mod fields;
mod pattern;

use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use record::mock::MockConfig;

pub(crate) use families::DecisionRule;
use fields::{Fields, Source};
pub(crate) use pattern::Pattern;

use crate::limits::BODY_MAX_BYTES;
use crate::{MockError, site};

/// Longest script, bytes.
pub const SCRIPT_MAX_BYTES: usize = 1 << 20;
/// Most endpoints of a script, those of its families included: each has a histogram.
pub const ENDPOINTS_MAX: usize = 64;

/// A script that cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// The script's name.
    pub file: String,
    /// Line and column from 1; 0 for the file as a whole.
    pub line: usize,
    /// Column in characters.
    pub column: usize,
    /// What is wrong, what was expected, the nearest valid word.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            _ => write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message),
        }
    }
}

impl std::error::Error for ScriptError {}

/// Reads the file of a body, by its path as the script has it; says why it cannot.
pub type Loader<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// A script, read and checked.
#[derive(Debug, Clone)]
pub struct Script {
    /// The configuration of the server, the script's `[server]` in it.
    pub(crate) config: MockConfig,
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) oauth: Option<OAuth>,
    pub(crate) decision: Option<Decision>,
    pub(crate) rpc: Option<Rpc>,
}

/// One path that is answered.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// `GET /items/{id}`; the path alone for any method.
    pub(crate) name: String,
    pub(crate) method: Option<String>,
    pub(crate) pattern: Pattern,
    /// The server's configuration with this endpoint's settings over it.
    pub(crate) config: MockConfig,
    /// Each item of a request costs so much more, ns.
    pub(crate) per_item_ns: u64,
    pub(crate) items: Items,
    /// The connection ends with an answer.
    pub(crate) closes: bool,
    pub(crate) kind: Kind,
}

/// Where the number of items of a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Items {
    /// The elements of the JSON array that is its body; 1 for anything else.
    Body,
    /// A parameter of its query; 1 without it.
    Query(String),
}

/// Who answers.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// The same answer each time.
    Fixed(Fixed),
    /// A family, by its part.
    OAuth(OAuthPart),
    Decision,
    Rpc,
}

/// A fixed answer.
#[derive(Debug, Clone)]
pub(crate) struct Fixed {
    pub(crate) status: u16,
    pub(crate) content_type: String,
    /// Name and value of each further header.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Arc<[u8]>,
}

/// The endpoints of an OAuth 2 and OpenID server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OAuthPart {
    Token,
    Introspect,
    Revoke,
    Authorize,
    UserInfo,
    Keys,
    Discovery,
}

/// The family `[oauth]`.
#[derive(Debug, Clone)]
pub(crate) struct OAuth {
    pub(crate) issuer: String,
    pub(crate) path: String,
    pub(crate) lifetime_ns: u64,
    /// Id and secret of each client.
    pub(crate) clients: Vec<(String, String)>,
    /// Name and password of each user.
    pub(crate) users: Vec<(String, String)>,
}

/// The family `[decision]`.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub(crate) otherwise: bool,
    pub(crate) rules: Vec<DecisionRule>,
}

/// The family `[rpc]`.
#[derive(Debug, Clone)]
pub(crate) struct Rpc {
    /// Headers that a call must have: name, and its value or `*`.
    pub(crate) headers: Vec<(String, String)>,
    /// Name and result of each method; `${params}` is what came.
    pub(crate) methods: Vec<(String, serde_json::Value)>,
}

impl Script {
    /// Reads a script. `file` is its name for messages, `config` the configuration by flags, which
    /// `[server]` adds to and endpoints start from, `load` reads the files of bodies.
    ///
    /// # Errors
    /// The first thing that is wrong with the text or a file, with its place.
    pub fn read(
        file: &str,
        text: &str,
        config: &MockConfig,
        load: Loader<'_>,
    ) -> Result<Self, ScriptError> {
        let source = Source { file, text };
        if text.len() > SCRIPT_MAX_BYTES {
            return Err(source.error(None, format!("longer than {SCRIPT_MAX_BYTES} bytes")));
        }
        let document = toml_edit::Document::parse(text).map_err(|error| {
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            source.error(error.span(), message.trim_end_matches('.').to_owned())
        })?;
        let mut fields = Fields::new(source, document.as_table(), "the script", None);
        let mut server = config.clone();
        if let Some(mut settings) = fields.table("server")? {
            endpoint::server(&mut settings, &mut server)?;
            settings.finish()?;
        }
        let mut script =
            Self { config: server, endpoints: Vec::new(), oauth: None, decision: None, rpc: None };
        for mut one in fields.tables("endpoint")? {
            let read = endpoint::endpoint(&mut one, &script.config, load)?;
            one.finish()?;
            script.add(read, &source, one.span())?;
        }
        if let Some(mut table) = fields.table("oauth")? {
            let (oauth, parts) = families::oauth(&mut table, &script.config)?;
            script.oauth = Some(oauth);
            for part in parts {
                script.add(part, &source, table.span())?;
            }
            table.finish()?;
        }
        if let Some(mut table) = fields.table("decision")? {
            let (decision, endpoint) = families::decision(&mut table, &script.config)?;
            script.decision = Some(decision);
            script.add(endpoint, &source, table.span())?;
            table.finish()?;
        }
        if let Some(mut table) = fields.table("rpc")? {
            let (rpc, endpoint) = families::rpc(&mut table, &script.config)?;
            script.rpc = Some(rpc);
            script.add(endpoint, &source, table.span())?;
            table.finish()?;
        }
        fields.finish()?;
        if script.endpoints.is_empty() {
            let message = "nothing is answered; write an `[[endpoint]]` with a `path`";
            return Err(source.error(None, message.to_owned()));
        }
        Ok(script)
    }

    /// Reads the script in a file; bodies are relative to its folder.
    ///
    /// # Errors
    /// As [`Script::read`], and a file that cannot be read. The second value is the text that was
    /// read, for its hash.
    pub fn read_file(path: &Path, config: &MockConfig) -> Result<(Self, String), ScriptError> {
        let file = path.display().to_string();
        let whole =
            |message: String| ScriptError { file: file.clone(), line: 0, column: 0, message };
        let bytes = read_bounded(path, SCRIPT_MAX_BYTES as u64).map_err(whole)?;
        let text = String::from_utf8(bytes).map_err(|_| whole("not UTF-8".to_owned()))?;
        let dir = path.parent().unwrap_or(Path::new("."));
        let script = Self::read(&file, &text, config, &folder(dir))?;
        Ok((script, text))
    }

    /// What the script makes of a stream of bytes, without a socket or a clock: how many of its
    /// requests had an endpoint. For tests and fuzzing.
    ///
    /// # Errors
    /// As a server's start with this script.
    pub fn rehearse(self, stream: &[u8]) -> Result<usize, MockError> {
        site::rehearse(self, stream)
    }

    fn add(
        &mut self,
        endpoint: Endpoint,
        source: &Source<'_>,
        at: Option<Range<usize>>,
    ) -> Result<(), ScriptError> {
        if self.endpoints.len() == ENDPOINTS_MAX {
            return Err(source.error(at, format!("more than {ENDPOINTS_MAX} endpoints")));
        }
        if self.endpoints.iter().any(|other| other.name == endpoint.name) {
            return Err(source.error(at, format!("`{}` is there twice", endpoint.name)));
        }
        self.endpoints.push(endpoint);
        Ok(())
    }
}

/// A loader of the files in a folder.
pub(crate) fn folder(dir: &Path) -> impl Fn(&str) -> Result<Vec<u8>, String> + '_ {
    move |name| read_bounded(&dir.join(name), BODY_MAX_BYTES)
}

/// A whole file of at most `most_bytes`.
fn read_bounded(path: &Path, most_bytes: u64) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let why = |error: std::io::Error| format!("cannot read `{}`: {error}", path.display());
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(why)?;
    file.take(most_bytes + 1).read_to_end(&mut bytes).map_err(why)?;
    if bytes.len() as u64 > most_bytes {
        return Err(format!("`{}` is longer than {most_bytes} bytes", path.display()));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
