//! The command line as typed. No side effects here: verbs turn it into work.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use record::units;

use crate::build_stamp;

mod load;

pub(crate) use load::LoadArguments;

/// A performance laboratory: a number is printed only together with what makes it true.
#[derive(Debug, Parser)]
#[command(
    name = "assay",
    version = build_stamp::VERSION,
    after_help = "Exit status: 0 all valid; 1 assay or the system failed; 2 wrong input, nothing \
                  started; 3 something is void, partial or incomplete; 4 a registered rule failed; \
                  5 refused to start."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Flags of every verb.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// When to colour; NO_COLOR is honoured by `auto`.
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// No progress and no remarks.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// More remarks.
    #[arg(short, long, global = true, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Carry out a bench: plan, run, check, compare.
    Run(RunArguments),
    /// Show what a bench would do; starts nothing.
    Plan(PlanArguments),
    /// Load one URL and say what can be believed of the figures.
    Load(LoadArguments),
    /// Serve an instrumented latency mock on loopback.
    Mock(Box<MockArguments>),
    /// Ramp the load on a target: noise floor, knee, price of a connection.
    Calibrate(CalibrateArguments),
    /// Certify a load generator on this host against the mock.
    Certify(CertifyArguments),
    /// Compare the levels of a matrix, in pairs within blocks.
    Compare(CompareArguments),
    /// Read a recording and say what it says on one page.
    Digest(DigestArguments),
    /// Ask a recording one question.
    Drill(DrillArguments),
    /// Say what changed between two recordings, profiles, GC logs or class histograms.
    Diff(DiffArguments),
    /// Say what this machine can be trusted with.
    Host(HostArguments),
    /// Tell finished, running, hung and died runs apart.
    Status(StatusArguments),
    /// Plant faults on this machine and see that each is reported; needs no privileges.
    Selftest(SelftestArguments),
    /// Print the JSON Schema of the bench file.
    Schema(SchemaArguments),
    /// Print completions for a shell.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
}

/// Where JSON goes: a file, or `-` for standard output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonTarget {
    /// `-`.
    Stdout,
    /// A file.
    File(PathBuf),
}

fn json_target(text: &str) -> Result<JsonTarget, String> {
    Ok(if text == "-" { JsonTarget::Stdout } else { JsonTarget::File(text.into()) })
}

/// `--json`.
#[derive(Debug, Args)]
pub(crate) struct JsonArgument {
    /// Write the result as JSON to a file, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", value_parser = json_target)]
    pub(crate) json: Option<JsonTarget>,
}

/// What changes a bench from the command line.
#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// The bench file.
    #[arg(value_name = "BENCH")]
    pub(crate) bench: PathBuf,
    /// Only the cells whose name matches.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// Blocks, instead of the bench's.
    #[arg(long, value_name = "N")]
    pub(crate) blocks: Option<u32>,
    /// Set one value, as `load.measure=30s`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Once for each length of the warm-up: `warmup=2s,5s,15s`.
    #[arg(long, value_name = "KEY=A,B,..")]
    pub(crate) rehearse: Option<String>,
    /// One block of tiny windows to prove the plumbing; no measurement.
    #[arg(long)]
    pub(crate) quick: bool,
}

/// `assay run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) bench: BenchArguments,
    /// Name of the matrix; `<bench>-<UTC>-<n>` without it.
    #[arg(long, value_name = "LABEL", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Where labels are kept.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Complete a label that was interrupted.
    #[arg(long, requires = "label")]
    pub(crate) resume: bool,
    /// Add blocks to a complete label; with `--only`, of these cells alone. A look at the data.
    #[arg(
        long,
        value_name = "N",
        requires = "label",
        conflicts_with_all = ["resume", "quick", "blocks"],
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub(crate) extend: Option<u32>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

fn label(text: &str) -> Result<String, String> {
    let fits = !text.is_empty()
        && text.len() <= 100
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        && !text.starts_with('.');
    if !fits || text == record::layout::QUICK {
        return Err("expected at most 100 letters, digits, `.`, `_` or `-`, not `quick`".into());
    }
    Ok(text.to_owned())
}

/// `assay plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) bench: BenchArguments,
    /// Say whether the plan can see an effect of this size, by the spread of a pilot.
    #[arg(long, value_name = "PERCENT", requires = "pilot", value_parser = effect)]
    pub(crate) resolve: Option<f64>,
    /// A label directory whose contrasts give the spread; a null is enough.
    #[arg(long, value_name = "DIR", requires = "resolve")]
    pub(crate) pilot: Option<PathBuf>,
    /// Price of the machines, as `1.16/h`; the currency is yours.
    #[arg(long, value_name = "PRICE/h", requires = "resolve", value_parser = price)]
    pub(crate) price: Option<f64>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// A share above 0 from a percentage.
fn effect(text: &str) -> Result<f64, String> {
    let share = units::share(text).map_err(|error| error.to_string())?;
    if share > 0.0 && share <= 10.0 {
        Ok(share)
    } else {
        Err(format!("`{text}` is no effect; write `2%`"))
    }
}

/// A price for an hour.
fn price(text: &str) -> Result<f64, String> {
    let wrong = || format!("`{text}` is no price of an hour; write `1.16/h`");
    units::rate_per_s(text).map(|per_s| per_s * 3600.0).map_err(|_| wrong())
}

/// `assay mock`: the keys of a bench file's `mock` table as flags.
#[derive(Debug, Args)]
pub(crate) struct MockArguments {
    /// Address to listen on; port 0 is a free one.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: String,
    /// Time that each request sleeps: `10ms`, `normal:10ms:2ms`, `lognormal:10ms:0.5`,
    /// `exponential:10ms`, `histogram:FILE`.
    #[arg(long, value_name = "TIME|LAW")]
    pub(crate) latency: Option<String>,
    /// Size of an answer's body, as `128`, `64KB` or `64KiB`.
    #[arg(long, value_name = "SIZE")]
    pub(crate) body_size: Option<String>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<String>,
    /// In every period the last LENGTH answers nothing.
    #[arg(long, value_name = "LENGTH/PERIOD")]
    pub(crate) stall: Option<String>,
    /// A share of requests fails: `1%:status=503`, `1%:body`, `1%:reset`, `1%:never`.
    #[arg(long, value_name = "SHARE:HOW")]
    pub(crate) fail: Vec<String>,
    /// Slower by a factor for the first TIME: `5s:10x`.
    #[arg(long, value_name = "TIME:FACTOR")]
    pub(crate) cold: Option<String>,
    /// The latency grows by this share of itself each minute: `+1%/min`.
    #[arg(long, value_name = "SHARE/min", allow_hyphen_values = true)]
    pub(crate) drift: Option<String>,
    /// Slower by a factor from TIME on: `10s:1.3x`.
    #[arg(long, value_name = "TIME:FACTOR")]
    pub(crate) slow_after: Option<String>,
    /// A share of requests takes this much more: `3.5%:225ms`.
    #[arg(long, value_name = "SHARE:TIME")]
    pub(crate) spike: Option<String>,
    /// A connection is closed after this many requests.
    #[arg(long, value_name = "N")]
    pub(crate) close: Option<String>,
    /// A section that one request at a time holds, before it sleeps.
    #[arg(long, value_name = "TIME")]
    pub(crate) serialise: Option<String>,
    /// So many requests are worked on at once; others queue.
    #[arg(long, value_name = "N")]
    pub(crate) workers: Option<String>,
    /// More than so many waiting requests are refused with status 503.
    #[arg(long, value_name = "N")]
    pub(crate) queue: Option<String>,
    /// Work that starts in this time takes longer, as with this share of the capacity:
    /// `10s..20s:0.25x`.
    #[arg(long, value_name = "FROM..TO:SHARE")]
    pub(crate) dip: Option<String>,
    /// More requests of one address are refused with status 429 and `Retry-After`: `10/min`.
    #[arg(long, value_name = "N/PERIOD")]
    pub(crate) rate_limit: Option<String>,
    /// Each answer says how long it queued, slept and was worked on.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) truth_header: Option<String>,
    /// Connections that may wait to be accepted; the kernel may allow fewer, which is said.
    #[arg(long, value_name = "N")]
    pub(crate) backlog: Option<String>,
    /// What is answered on which path, in TOML; see the page of the mock.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<String>,
    /// Sleep so much longer than asked, for tests of what finds it.
    #[arg(long, value_name = "TIME")]
    pub(crate) bias: Option<String>,
    /// What the mock is there for: `instrument` or `subject`; else by its settings.
    #[arg(long, value_name = "OFFICE")]
    pub(crate) office: Option<String>,
    /// A second port, of loopback, that tells the truth so far and takes another script.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) control: Option<String>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

fn margin(text: &str) -> Result<f64, String> {
    let share = units::share(text).map_err(|error| error.to_string())?;
    // A margin of 100 % lets everything from half to double be the same.
    if share > 0.0 && share <= 1.0 {
        Ok(share)
    } else {
        Err(format!("`{text}` is no margin: expected more than 0 % and at most 100 %"))
    }
}

/// `assay calibrate`.
#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// A bench file, or the URL of something that runs.
    #[arg(value_name = "BENCH|URL")]
    pub(crate) of: String,
    /// The target, where the bench has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// The scenario, where the bench has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// Users at each point, ascending.
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1,2,4,8,16,32,64")]
    pub(crate) ramp: Vec<u32>,
    /// Arrivals per second at each point, instead of users.
    #[arg(long, value_name = "N,..", value_delimiter = ',', conflicts_with = "ramp")]
    pub(crate) rates: Vec<u32>,
    /// Warm-up of each point.
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = units::duration_ns)]
    pub(crate) settle: u64,
    /// Window of each point.
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = units::duration_ns)]
    pub(crate) measure: u64,
    /// Set one value, as `target.env.POOL=8`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where the runs behind it are kept.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay selftest`.
#[derive(Debug, Args)]
pub(crate) struct SelftestArguments {
    /// Judge this build of assay instead of the running one.
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay certify`.
#[derive(Debug, Args)]
pub(crate) struct CertifyArguments {
    /// The generator: `assay`, the name of an adapter, or a command line.
    #[arg(long, value_name = "NAME|COMMAND")]
    pub(crate) generator: Option<String>,
    /// Of a command: a regular expression whose named groups are its figures; may be given several
    /// times.
    #[arg(long, value_name = "REGEX", requires = "generator")]
    pub(crate) pattern: Vec<String>,
    /// Only arrivals at a rate, or only users who wait; else all that the generator can do.
    #[arg(long, value_name = "MODEL", value_enum)]
    pub(crate) model: Option<LoadModel>,
    /// Only the stages whose name matches; such a part stands for nothing later.
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Option<String>,
    /// A setting of the mock, as `body_size=64KB`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) against: Vec<String>,
    /// Look for p99.99 too; takes minutes.
    #[arg(long)]
    pub(crate) deep: bool,
    /// How long the certificate holds.
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = units::duration_ns)]
    pub(crate) age: u64,
    /// Where it is kept, instead of the state folder of the user.
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Where the runs behind it are kept.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// How load arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadModel {
    /// At a rate.
    Open,
    /// From users who wait.
    Closed,
}

/// `assay compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A label directory.
    #[arg(value_name = "DIR", required_unless_present = "tables")]
    pub(crate) dir: Option<PathBuf>,
    /// Two labels side by side: what changed between them, and how far an arm that nothing
    /// touched drifted.
    #[arg(
        long,
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = [
            "dir", "factor", "baseline", "metric", "margin", "primary", "group", "over", "md",
            "csv", "html",
        ]
    )]
    pub(crate) tables: Option<Vec<PathBuf>>,
    /// Only the contrasts of this factor.
    #[arg(long, value_name = "F")]
    pub(crate) factor: Option<String>,
    /// This level as the baseline of its factor.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) baseline: Option<String>,
    /// Only these metrics, separated by commas; the primary one stays primary.
    #[arg(long, value_name = "M,...", value_delimiter = ',')]
    pub(crate) metric: Vec<String>,
    /// Smallest effect that matters, as `2%`, instead of the registered one; marked as chosen
    /// after the run.
    #[arg(long, value_name = "P", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Primary metric, instead of the registered one; marked as chosen after the run.
    #[arg(long, value_name = "M")]
    pub(crate) primary: Option<String>,
    /// Only the rows whose cell, combination or level matches.
    #[arg(long, value_name = "GLOB")]
    pub(crate) group: Option<String>,
    /// The factor whose levels are the rows of a geometric mean.
    #[arg(long, value_name = "F")]
    pub(crate) over: Option<String>,
    /// Every metric, not the primary one alone, what stands behind each verdict, and every pair.
    #[arg(long)]
    pub(crate) all: bool,
    /// Markdown instead of tables for the terminal.
    #[arg(long)]
    pub(crate) md: bool,
    /// Write one line for each contrast and metric to a file, or to standard output with `-`.
    #[arg(long, value_name = "FILE|-", value_parser = json_target)]
    pub(crate) csv: Option<JsonTarget>,
    /// Write the page to look at: one HTML file without scripts.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// What narrows the reading of a recording.
#[derive(Debug, Args)]
pub(crate) struct ReadingArguments {
    /// A prefix of own code, with dots or slashes; may be given several times.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) package: Vec<String>,
    /// Only this part: spans from the recording's start, either side may be left out; `5s..25s`.
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) window: Option<String>,
}

/// `assay digest`.
#[derive(Debug, Args)]
pub(crate) struct DigestArguments {
    /// Recordings, GC logs, class histograms, thread dumps, collapsed stacks, or run directories
    /// that hold some.
    #[arg(value_name = "FILE|RUN", required_unless_present = "recover")]
    pub(crate) files: Vec<PathBuf>,
    /// Read the chunks that a JVM left in its repository instead of a finished file.
    #[arg(long, value_name = "DIR")]
    pub(crate) recover: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    /// Count a sample for its leaf's package alone.
    #[arg(long)]
    pub(crate) exclusive: bool,
    /// Frames from the leaf in which packages are looked for.
    #[arg(long, value_name = "FRAMES")]
    pub(crate) depth: Option<u32>,
    /// Report where a figure lies, may be given several times: `org.acme=35..40`, percent of CPU
    /// samples with the package; `own=0..8`, with any frame of own code; `gc-rate=0..3`, pauses
    /// per second.
    #[arg(long, value_name = "PREFIX=LOW..HIGH")]
    pub(crate) band: Vec<String>,
    /// Also write one self-contained page with figures.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay drill`.
#[derive(Debug, Args)]
pub(crate) struct DrillArguments {
    /// A recording, collapsed stacks, or a chunk repository that a JVM left.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What is asked about.
    #[arg(value_name = "SUBJECT", value_enum)]
    pub(crate) subject: DrillSubject,
    /// Only stacks through a method: part of `package.Class.method`, with dots or slashes.
    #[arg(long, value_name = "S")]
    pub(crate) site: Option<String>,
    /// As many callers of that method.
    #[arg(long, value_name = "N", default_value_t = 3, requires = "site")]
    pub(crate) callers: u32,
    #[command(flatten)]
    pub(crate) reading: ReadingArguments,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// Subjects of `assay drill`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrillSubject {
    /// Bytes by site and type.
    Allocations,
    /// Running threads by method.
    Cpu,
    /// Waits by site.
    Locks,
    /// The longest pauses of the collector.
    Pauses,
    /// The heap after each collection.
    Floor,
    /// Old objects.
    Survivors,
    /// Samples and parking by thread.
    Threads,
}

/// `assay diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The earlier side: a flight recording, collapsed stacks, a GC log, a class histogram, or a
    /// run directory with one of them.
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// The later side, of the same kind.
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// A second run of A: changes beyond what the two differ by are marked, and none without it.
    #[arg(long, value_name = "A2")]
    pub(crate) null: Option<PathBuf>,
    /// A site that nothing touched; shares are compared only when its figures are the same on both
    /// sides. May be given several times.
    #[arg(long, value_name = "SITE")]
    pub(crate) controls: Vec<String>,
    /// A prefix of own code, with dots or slashes; may be given several times.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) package: Vec<String>,
    /// Operations that the program did on each side, as `20000,21500`, with --null its own as the
    /// third; known for run directories.
    #[arg(long, value_name = "A,B[,A2]", value_parser = counts)]
    pub(crate) operations: Option<Operations>,
    /// How long a sample of collapsed stacks stands for, as `10ms`; a recording says it itself.
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// The weights of collapsed stacks are bytes.
    #[arg(long)]
    pub(crate) bytes: bool,
    /// Write the difference graph to a file, and the flame graphs of both sides beside it.
    #[arg(long, value_name = "FILE")]
    pub(crate) flame: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// Operations of both sides and of the null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operations {
    pub(crate) before: u64,
    pub(crate) after: u64,
    pub(crate) null: Option<u64>,
}

fn counts(text: &str) -> Result<Operations, String> {
    let counts: Option<Vec<u64>> =
        text.split(',').map(|count| count.trim().parse().ok().filter(|count| *count > 0)).collect();
    match counts.as_deref() {
        Some(&[before, after]) => Ok(Operations { before, after, null: None }),
        Some(&[before, after, null]) => Ok(Operations { before, after, null: Some(null) }),
        _ => {
            Err("expected two counts above zero, as `20000,21500`, or three with --null".to_owned())
        }
    }
}

/// `assay host`.
#[derive(Debug, Args)]
pub(crate) struct HostArguments {
    #[command(subcommand)]
    pub(crate) question: HostQuestion,
}

/// What is asked of a machine.
#[derive(Debug, Subcommand)]
pub(crate) enum HostQuestion {
    /// Grade it: qualified, directional or unfit, with what limits it and what mends that.
    Check(HostCheckArguments),
    /// Run one cell of a bench beside itself and say what this machine can see.
    Qualify(HostQualifyArguments),
    /// Say which differences of the machine go along with the scatter of pairs.
    Doctor(HostDoctorArguments),
}

/// `assay host check`.
#[derive(Debug, Args)]
#[command(after_help = "Exit status: 0 qualified or directional; 2 wrong input; 5 unfit.")]
pub(crate) struct HostCheckArguments {
    /// A bench whose needs are held against the machine: users, connections, disk.
    #[arg(long = "for", value_name = "BENCH")]
    pub(crate) bench: Option<PathBuf>,
    /// Read facts alone; without it probes measure for a few seconds.
    #[arg(long)]
    pub(crate) no_probes: bool,
    /// Where results would be kept: its disk is looked at.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Judge the copied trees `proc` and `sys` in a folder instead of this machine, without probes.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay host qualify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 the spread is within the bound; 2 wrong input; 3 too few valid \
                  pairs to tell; 5 it is not."
)]
pub(crate) struct HostQualifyArguments {
    /// The bench file.
    #[arg(value_name = "BENCH")]
    pub(crate) bench: PathBuf,
    /// The cell; without it the noisiest of the pilot, or the one with the shortest work.
    #[arg(long, value_name = "CELL", conflicts_with = "pilot")]
    pub(crate) cell: Option<String>,
    /// A label directory whose noisiest contrast says the cell.
    #[arg(long, value_name = "DIR")]
    pub(crate) pilot: Option<PathBuf>,
    /// Pairs of the null.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=40))]
    pub(crate) pairs: u32,
    /// Largest standard deviation of the pairs.
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = effect)]
    pub(crate) bound: f64,
    /// The effect that the bench is about.
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = effect)]
    pub(crate) effect: f64,
    /// Set one value, as `load.measure=30s`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Where labels are kept.
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay host doctor`.
#[derive(Debug, Args)]
pub(crate) struct HostDoctorArguments {
    /// A label directory.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// A label or a run directory.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}

/// `assay schema`.
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    #[command(flatten)]
    pub(crate) json: JsonArgument,
}
