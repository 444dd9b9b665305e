//! A matrix from its plan to its last digest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clock::{Clock, Monotonic};
use record::calibration::Calibration;
use record::certificate::CertificateStub;
use record::host_check::HostStanding;
use record::meta::Build;
use record::plan::{Cell, Extent, Plan};
use record::{Validity, layout};

use crate::digester::Digester;
use crate::error::LabError;
use crate::facts::Facts;
use crate::instances::Instances;
use crate::interrupt::Interrupt;
use crate::label::{Label, Opening};
use crate::pending::{Pending, pending};
use crate::predecessor::{Previous, predecessor};
use crate::progress::{Progress, Step};
use crate::run::{Ended, Surroundings, counts, make};

/// After this many targets in a row that did not come up, the rest is not tried.
const MOST_FAILED_BRING_UPS: u32 = 3;
/// How often a gap looks whether the user wants to stop.
const GAP_LOOK: Duration = Duration::from_millis(100);

/// A matrix to make.
pub struct Session<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Output directory.
    pub out: PathBuf,
    /// Label.
    pub label: String,
    /// Whether the label is created, completed or extended.
    pub opening: Opening,
    /// Our own program, for the hidden verbs.
    pub assay: PathBuf,
    /// Our own build.
    pub build: Build,
    /// Options of the command line, for the record.
    pub options: BTreeMap<String, String>,
    /// The grade of the machine, for every run's metadata.
    pub standing: Option<HostStanding>,
    /// What the generators of this host are certified for, by name.
    pub certificates: BTreeMap<String, CertificateStub>,
    /// The calibration that the plan is carried out under; archived in the label.
    pub calibration: Option<Calibration>,
    /// How a run directory becomes a digest.
    pub digester: &'a dyn Digester,
    /// The user's wish to stop.
    pub interrupt: &'a Interrupt,
}

/// What became of a matrix.
#[derive(Debug, Clone)]
pub struct Finished {
    /// The label directory.
    pub dir: PathBuf,
    /// Measured runs of the plan.
    pub planned: usize,
    /// Measured runs digested by this session, with what may be believed of each.
    pub digested: Vec<(String, Validity)>,
    /// Measured runs that are still to make.
    pub left: usize,
    /// Blocks of which every measured run is digested.
    pub blocks: u32,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// The parent's own CPU over the session, ns.
    pub parent_cpu_ns: u64,
    /// Wall time of the session, ns.
    pub elapsed_ns: u64,
}

/// Makes what is to be made.
///
/// # Errors
/// [`LabError`]: refusals before anything is started, failures of the file system or of our own
/// children. What was digested before stays. A target that fails is no error.
pub fn execute(session: &Session<'_>, progress: &mut dyn Progress) -> Result<Finished, LabError> {
    let began = Instant::now();
    let cpu_before = clock::own_usage();
    require_free_ports(session.plan)?;
    let label =
        Label::open(&session.out, &session.label, session.plan, session.opening, &session.build)?;
    if session.opening != Opening::New {
        label.sweep_scratch()?;
    }
    label.archive(session.calibration.as_ref(), session.plan, session.opening)?;
    let facts = Facts::gather(
        session.assay.clone(),
        session.build.clone(),
        session.options.clone(),
        session.standing.clone(),
        &session.plan.cpus.parent,
    );
    let made_before = label.runs()?;
    let todo = pending(&session.plan.runs, &made_before);
    let previous =
        predecessor(&label.dir.join(layout::RUNS), &made_before, facts.host.boot_id.as_deref());
    let cells: BTreeMap<&str, &Cell> =
        session.plan.cells.iter().map(|cell| (cell.name.as_str(), cell)).collect();

    let mut matrix = Matrix {
        session,
        label: &label,
        facts: &facts,
        cells,
        instances: Instances::default(),
        previous,
        digested: Vec::new(),
        failed_bring_ups: 0,
        began,
    };
    let made = matrix.make_all(&todo, progress);
    let digested = std::mem::take(&mut matrix.digested);
    // Instances end here, whatever happened.
    drop(matrix);
    made?;
    let still = pending(&session.plan.runs, &label.runs()?);
    let left: Vec<&Pending> = still.iter().filter(|run| counts(run.planned.kind)).collect();
    let broken: BTreeSet<u32> = left.iter().map(|run| run.planned.block).collect();
    let blocks: BTreeSet<u32> = session.plan.runs.iter().map(|run| run.block).collect();
    let cpu = clock::own_usage();
    Ok(Finished {
        dir: label.dir.clone(),
        planned: session.plan.runs.iter().filter(|run| counts(run.kind)).count(),
        digested,
        left: left.len(),
        blocks: blocks.difference(&broken).count() as u32,
        interrupted: session.interrupt.wants_stop(),
        parent_cpu_ns: cpu.cpu_user_ns + cpu.cpu_sys_ns
            - cpu_before.cpu_user_ns
            - cpu_before.cpu_sys_ns,
        elapsed_ns: began.elapsed().as_nanos() as u64,
    })
}

/// Refuses before anything is written when a fixed port of any target is taken.
fn require_free_ports(plan: &Plan) -> Result<(), LabError> {
    let mut asked = BTreeSet::new();
    for cell in &plan.cells {
        let target = &cell.effective.target;
        if asked.insert((&target.name, &target.address)) {
            target::require_free_port(target).map_err(LabError::Refused)?;
        }
    }
    Ok(())
}

struct Matrix<'a> {
    session: &'a Session<'a>,
    label: &'a Label,
    facts: &'a Facts,
    cells: BTreeMap<&'a str, &'a Cell>,
    instances: Instances,
    previous: Option<Previous>,
    digested: Vec<(String, Validity)>,
    failed_bring_ups: u32,
    began: Instant,
}

impl Matrix<'_> {
    fn make_all(&mut self, todo: &[Pending], progress: &mut dyn Progress) -> Result<(), LabError> {
        for (index, run) in todo.iter().enumerate() {
            if self.session.interrupt.wants_stop() {
                break;
            }
            if self.failed_bring_ups >= MOST_FAILED_BRING_UPS {
                progress.step(Step::Note {
                    text: format!(
                        "{MOST_FAILED_BRING_UPS} targets in a row did not come up; {} runs are \
                         left, `--resume` makes them",
                        todo.len() - index
                    ),
                });
                break;
            }
            self.gap(progress);
            if self.session.interrupt.wants_stop() {
                break;
            }
            self.announce(todo, index, progress);
            if self.make_one(run, progress)? {
                break;
            }
        }
        Ok(())
    }

    /// Makes one run; true when the user cut it short.
    fn make_one(&mut self, run: &Pending, progress: &mut dyn Progress) -> Result<bool, LabError> {
        let cell = self.cells[run.planned.cell.as_str()];
        let surroundings = Surroundings {
            plan: self.session.plan,
            label: self.label,
            facts: self.facts,
            certificates: &self.session.certificates,
            digester: self.session.digester,
            interrupt: self.session.interrupt,
            since_previous_run_ns: self
                .previous
                .as_ref()
                .and_then(|previous| previous.ended_ns)
                .map(|ended_ns| Monotonic.now_ns().saturating_sub(ended_ns)),
            previous_cell: self.previous.as_ref().map(|previous| previous.cell.clone()),
        };
        let ended = make(run, cell, &surroundings, &mut self.instances, progress)?;
        self.previous =
            Some(Previous { cell: run.planned.cell.clone(), ended_ns: Some(Monotonic.now_ns()) });
        match ended {
            Ended::Aborted => Ok(true),
            Ended::Digested { validity, came_up } => {
                self.failed_bring_ups = if came_up { 0 } else { self.failed_bring_ups + 1 };
                if counts(run.planned.kind) {
                    self.digested.push((run.dir.clone(), validity));
                }
                Ok(false)
            }
        }
    }

    /// The plan's gap since the end of the previous run.
    fn gap(&self, progress: &mut dyn Progress) {
        let ended_ns = self.previous.as_ref().and_then(|previous| previous.ended_ns);
        let Some(ended_ns) = ended_ns else { return };
        let until_ns = ended_ns.saturating_add(self.session.plan.gap_ns);
        let left_ns = until_ns.saturating_sub(Monotonic.now_ns());
        if left_ns == 0 {
            return;
        }
        progress.step(Step::Gap { length: Duration::from_nanos(left_ns) });
        while !self.session.interrupt.wants_stop() {
            let left_ns = until_ns.saturating_sub(Monotonic.now_ns());
            if left_ns == 0 {
                break;
            }
            std::thread::sleep(Duration::from_nanos(left_ns).min(GAP_LOOK));
        }
    }

    fn announce(&self, todo: &[Pending], index: usize, progress: &mut dyn Progress) {
        let run = &todo[index];
        let remaining = todo[index..]
            .iter()
            .map(|run| self.length_ns(run))
            .sum::<Option<u64>>()
            .map(Duration::from_nanos);
        progress.step(Step::Run {
            run: &run.dir,
            number: index + 1,
            of: todo.len(),
            block: (run.planned.block, self.session.plan.blocks),
            cell: &run.planned.cell,
            elapsed: self.began.elapsed(),
            remaining,
        });
    }

    /// Planned length of a run with its gap; `None` when its window is a count.
    fn length_ns(&self, run: &Pending) -> Option<u64> {
        let effective = &self.cells[run.planned.cell.as_str()].effective;
        let (Extent::Ns(warmup), Extent::Ns(measure)) =
            (effective.load.warmup, effective.load.measure)
        else {
            return None;
        };
        let bring_up = if run.last_of_instance { effective.target.bring_up_ns } else { 0 };
        Some(warmup + measure + bring_up + self.session.plan.gap_ns)
    }
}
