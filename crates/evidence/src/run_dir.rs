//! Reads a run directory as it is, whatever is left of it. A run that was killed at any instant
//! leaves a prefix of its files: what can be read is read, what cannot is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use record::foreign::ForeignRun;
use record::layout::{self, ReadError};
use record::load::LoadRecord;
use record::meta::Meta;
use record::mock::MockRecord;
use record::plan::TargetKind;
use record::resources::{Edge, HostRow, ResourceRow};

use crate::error::EvidenceError;

/// Largest CSV that is read, bytes: a soak of a week at a second's interval fits ten times.
const MOST_CSV_BYTES: u64 = 1 << 30;

/// A piece of evidence that may be missing, with the reason when it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence<T> {
    /// It is there.
    Present(T),
    /// It is not, or is not readable; the text names the file and the cause.
    Absent(String),
}

impl<T> Evidence<T> {
    /// The evidence, when it is there.
    #[must_use]
    pub fn present(&self) -> Option<&T> {
        match self {
            Self::Present(value) => Some(value),
            Self::Absent(_) => None,
        }
    }

    /// Why it is not there.
    #[must_use]
    pub fn absence(&self) -> Option<&str> {
        match self {
            Self::Present(_) => None,
            Self::Absent(why) => Some(why),
        }
    }
}

/// Rows of a CSV file and how many of its lines were no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    /// The rows in file order.
    pub rows: Vec<T>,
    /// Lines that could not be read: a partial last line after a kill, or damage.
    pub skipped: u64,
}

/// What a run left behind.
#[derive(Debug, Clone)]
pub struct RunDir {
    /// The directory as given.
    pub path: PathBuf,
    /// Identity and environment.
    pub meta: Meta,
    /// The generator's word.
    pub load: Evidence<LoadRecord>,
    /// The mock's word; absent also when the target was no mock.
    pub mock: Evidence<MockRecord>,
    /// A foreign generator's word; absent also for assay's own.
    pub foreign: Evidence<ForeignRun>,
    /// Samples of the processes.
    pub resources: Evidence<Rows<ResourceRow>>,
    /// Samples of the host.
    pub host: Evidence<Rows<HostRow>>,
}

impl RunDir {
    /// Reads a run directory.
    ///
    /// # Errors
    /// Only without a readable `meta.json`, since nothing else says what was run. Everything
    /// else that is missing is kept as [`Evidence::Absent`].
    pub fn read(path: &Path) -> Result<Self, EvidenceError> {
        Ok(Self {
            path: path.to_owned(),
            meta: layout::read_json(&path.join(layout::META))?,
            load: json(path, layout::LOAD),
            mock: json(path, layout::MOCK),
            foreign: json(path, layout::FOREIGN),
            resources: csv(path, layout::RESOURCES, resource_row),
            host: csv(path, layout::HOST, host_row),
        })
    }

    /// Whether another program than assay loaded the target.
    #[must_use]
    pub fn has_foreign(&self) -> bool {
        self.meta.effective.generator.is_foreign()
    }

    /// Whether the target was assay's own mock, so that a second witness is expected.
    #[must_use]
    pub fn has_mock(&self) -> bool {
        matches!(self.meta.effective.target.kind, TargetKind::Mock(_))
    }
}

/// Reads one JSON file; the text of an absence names the file by its own name only, so that it
/// reads the same wherever the directory lies.
fn json<T: serde::de::DeserializeOwned>(dir: &Path, name: &str) -> Evidence<T> {
    let path = dir.join(name);
    match fs::metadata(&path) {
        Err(_) => return Evidence::Absent(format!("`{name}` is missing")),
        Ok(data) if data.len() == 0 => return Evidence::Absent(format!("`{name}` is empty")),
        Ok(_) => {}
    }
    match layout::read_json(&path) {
        Ok(value) => Evidence::Present(value),
        Err(ReadError::Io { source, .. }) => {
            Evidence::Absent(format!("`{name}` cannot be read: {source}"))
        }
        Err(ReadError::Json { source, .. }) => {
            Evidence::Absent(format!("`{name}` is damaged: {source}"))
        }
    }
}

fn csv<T>(dir: &Path, name: &str, row: fn(&Fields<'_>) -> Option<T>) -> Evidence<Rows<T>> {
    let path = dir.join(name);
    match fs::metadata(&path) {
        Err(_) => return Evidence::Absent(format!("`{name}` is missing")),
        Ok(data) if data.len() > MOST_CSV_BYTES => {
            return Evidence::Absent(format!("`{name}` is larger than {MOST_CSV_BYTES} bytes"));
        }
        Ok(_) => {}
    }
    match fs::read(&path) {
        Err(error) => Evidence::Absent(format!("`{name}` cannot be read: {error}")),
        Ok(bytes) => {
            let read = rows(&String::from_utf8_lossy(&bytes), row);
            if read.rows.is_empty() {
                Evidence::Absent(format!("`{name}` has no rows"))
            } else {
                Evidence::Present(read)
            }
        }
    }
}

/// The rows of a `resources.csv`; what cannot be read is skipped and counted.
#[must_use]
pub fn resource_rows(text: &str) -> Rows<ResourceRow> {
    rows(text, resource_row)
}

/// The rows of a `host.csv`; what cannot be read is skipped and counted.
#[must_use]
pub fn host_rows(text: &str) -> Rows<HostRow> {
    rows(text, host_row)
}

/// Parses rows under the header of the text. Columns are found by name, so that a later version
/// may add some. A line without its newline is a partial write and is not trusted, even when it
/// parses: its last number may be cut.
fn rows<T>(text: &str, row: fn(&Fields<'_>) -> Option<T>) -> Rows<T> {
    let mut lines = text.split_inclusive('\n');
    let header: Vec<&str> = lines.next().unwrap_or_default().trim_end().split(',').collect();
    let mut read = Rows { rows: Vec::new(), skipped: 0 };
    for line in lines {
        let whole = line.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let Some(line) = whole else {
            read.skipped += 1;
            continue;
        };
        // The last column of the host file is a process name, which may hold commas.
        let values: Vec<&str> = line.splitn(header.len(), ',').collect();
        let fields = Fields { header: &header, values: &values };
        match row(&fields) {
            Some(parsed) if values.len() == header.len() => read.rows.push(parsed),
            _ => read.skipped += 1,
        }
    }
    read
}

/// One line of a CSV file under its header.
struct Fields<'a> {
    header: &'a [&'a str],
    values: &'a [&'a str],
}

impl Fields<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let column = self.header.iter().position(|column| *column == name)?;
        self.values.get(column).copied()
    }

    fn required<T: FromStr>(&self, name: &str) -> Option<T> {
        self.text(name)?.parse().ok()
    }

    /// The outer `None` is a value that is none of its type; the inner an empty cell.
    fn optional<T: FromStr>(&self, name: &str) -> Option<Option<T>> {
        match self.text(name) {
            None | Some("") => Some(None),
            Some(text) => text.parse().ok().map(Some),
        }
    }
}

fn resource_row(fields: &Fields<'_>) -> Option<ResourceRow> {
    Some(ResourceRow {
        t_ns: fields.required("t_ns")?,
        edge: Edge::from_word(fields.text("edge")?)?,
        role: fields.text("role")?.to_owned(),
        processes: fields.required("processes")?,
        cpu_user_ns: fields.optional("cpu_user_ns")?,
        cpu_sys_ns: fields.optional("cpu_sys_ns")?,
        cpu_ns: fields.optional("cpu_ns")?,
        rss_bytes: fields.optional("rss_bytes")?,
        pss_bytes: fields.optional("pss_bytes")?,
        threads: fields.optional("threads")?,
        switches_voluntary: fields.optional("switches_voluntary")?,
        switches_involuntary: fields.optional("switches_involuntary")?,
        descriptors: fields.optional("descriptors")?,
    })
}

fn host_row(fields: &Fields<'_>) -> Option<HostRow> {
    let name: Option<String> = fields.optional("foreign_name")?;
    Some(HostRow {
        t_ns: fields.required("t_ns")?,
        edge: Edge::from_word(fields.text("edge")?)?,
        busy_ns: fields.optional("busy_ns")?,
        idle_ns: fields.optional("idle_ns")?,
        steal_ns: fields.optional("steal_ns")?,
        load_1m: fields.optional("load_1m")?,
        frequency_hz: fields.optional("frequency_hz")?,
        temperature_millicelsius: fields.optional("temperature_millicelsius")?,
        memory_available_bytes: fields.optional("memory_available_bytes")?,
        frequency_share: fields.optional("frequency_share")?,
        interrupts: fields.optional("interrupts")?,
        throttled_ns: fields.optional("throttled_ns")?,
        thermal_throttles: fields.optional("thermal_throttles")?,
        time_wait: fields.optional("time_wait")?,
        foreign_all_share: fields.optional("foreign_all_share")?,
        foreign_pid: fields.optional("foreign_pid")?,
        foreign_share: fields.optional("foreign_share")?,
        foreign_name: name.map(|name| name.trim_matches('"').to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::resources::RESOURCES_HEADER;

    const LINES: &str = "10,window_start,target,1,5,6,11,100,,2,1,0,7\n\
                         20,sample,target,1,7,8,15,120,,2,2,0,7\n\
                         30,window_end,target,1,9,9,18,110,,2,3,0,7\n";

    #[test]
    fn a_file_cut_at_any_byte_yields_a_prefix() {
        let text = format!("{RESOURCES_HEADER}\n{LINES}");
        let all = rows(&text, resource_row);
        assert_eq!((all.rows.len(), all.skipped), (3, 0));
        assert_eq!(all.rows[0].pss_bytes, None);
        for cut in 0..text.len() {
            let part = rows(&text[..cut], resource_row);
            assert_eq!(part.rows, all.rows[..part.rows.len()], "cut at {cut}");
            assert!(part.skipped <= 1, "cut at {cut}");
            let whole_lines = text[..cut].matches('\n').count().saturating_sub(1);
            assert_eq!(part.rows.len(), whole_lines, "cut at {cut}");
        }
    }

    #[test]
    fn damage_is_counted_not_swallowed() {
        let text = format!("{RESOURCES_HEADER}\n{LINES}garbage\n40,sample,target,x,,,,,,,,,\n");
        let read = rows(&text, resource_row);
        assert_eq!((read.rows.len(), read.skipped), (3, 2));
    }

    #[test]
    fn a_foreign_name_may_hold_commas() {
        let text = "t_ns,edge,foreign_pid,foreign_share,foreign_name\n1,sample,7,0.5,a, b\n";
        let read = rows(text, host_row);
        assert_eq!(read.rows[0].foreign_name.as_deref(), Some("a, b"));
        assert_eq!(read.rows[0].steal_ns, None);
    }
}
