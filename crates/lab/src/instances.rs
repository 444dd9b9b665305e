//! The instances that are up, by number.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use clock::{Clock, Monotonic};
use record::layout;
use record::plan::{Cpus, Target};
use target::{BringUpError, Context, Instance, bring_up};

use crate::facts::Facts;
use crate::interrupt::Interrupt;

/// What of a shared instance's log is kept in a run directory, bytes: its end.
const MOST_LOG_BYTES: u64 = 4 << 20;

/// An instance with the place of its logs.
#[derive(Debug)]
pub(crate) struct Up {
    pub(crate) instance: Instance,
    pub(crate) target: Target,
    pub(crate) ready_ns: u64,
    dir: PathBuf,
    /// Sizes of the logs when the current run began.
    log_marks: [u64; 2],
}

const LOGS: [&str; 2] = [layout::STDOUT, layout::STDERR];

impl Up {
    /// Remembers where the logs stand: what follows belongs to the run that begins.
    pub(crate) fn mark_logs(&mut self) {
        self.log_marks =
            LOGS.map(|name| fs::metadata(self.dir.join(name)).map_or(0, |meta| meta.len()));
    }

    /// Copies what was logged since the mark, unless the logs are the run's own.
    pub(crate) fn copy_logs(&self, run_dir: &Path) -> io::Result<()> {
        if self.dir == run_dir {
            return Ok(());
        }
        for (name, mark) in LOGS.iter().zip(self.log_marks) {
            let Ok(mut log) = File::open(self.dir.join(name)) else { continue };
            let length = log.metadata()?.len();
            log.seek(SeekFrom::Start(mark.max(length.saturating_sub(MOST_LOG_BYTES))))?;
            let mut copy = File::create(run_dir.join(name))?;
            io::copy(&mut log.take(MOST_LOG_BYTES), &mut copy)?;
        }
        Ok(())
    }
}

/// The instances that are up. Dropping ends them all.
#[derive(Debug, Default)]
pub(crate) struct Instances(BTreeMap<u32, Up>);

impl Drop for Instances {
    fn drop(&mut self) {
        for up in std::mem::take(&mut self.0).into_values() {
            let scratch = up.dir.join(layout::SCRATCH);
            // Ends its tree without the grace that a stop gives: the user may be waiting.
            drop(up);
            let _ = fs::remove_dir_all(scratch);
        }
    }
}

impl Instances {
    /// The instance of this number, brought up when it is not. `dir` takes its logs.
    pub(crate) fn get(
        &mut self,
        number: u32,
        target: &Target,
        cpus: &Cpus,
        dir: &Path,
        facts: &Facts,
        interrupt: &Interrupt,
    ) -> Result<&mut Up, BringUpError> {
        // A target that died under an earlier run is brought up anew for the next one.
        // Its scratch space is already there for that one.
        if self.0.get_mut(&number).is_some_and(|up| up.instance.exited().is_some())
            && let Some(mut dead) = self.0.remove(&number)
        {
            let _ = dead.instance.stop();
        }
        match self.0.entry(number) {
            Entry::Occupied(up) => Ok(up.into_mut()),
            Entry::Vacant(place) => {
                let context = Context {
                    guardian: &facts.assay,
                    assay: &facts.assay,
                    dir,
                    scratch: &dir.join(layout::SCRATCH),
                    cpus,
                    clock: &Monotonic,
                    interrupted: &|| interrupt.wants_abort(),
                };
                let instance = bring_up(target, &context)?;
                Ok(place.insert(Up {
                    instance,
                    target: target.clone(),
                    ready_ns: Monotonic.now_ns(),
                    dir: dir.to_owned(),
                    log_marks: [0; 2],
                }))
            }
        }
    }

    /// Whether the instance is up.
    pub(crate) fn is_up(&self, number: u32) -> bool {
        self.0.contains_key(&number)
    }

    /// Stops one; its tree is gone when this returns, or is named in the answer. Its scratch
    /// space goes with it.
    pub(crate) fn stop(&mut self, number: u32) -> Option<String> {
        let mut up = self.0.remove(&number)?;
        let left = up.instance.stop().err().map(|error| error.to_string());
        // What cannot be removed now is swept by the next `--resume`.
        let _ = fs::remove_dir_all(up.dir.join(layout::SCRATCH));
        left
    }
}
