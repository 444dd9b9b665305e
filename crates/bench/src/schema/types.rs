//! The grammar as types that only ever become a schema.

#![expect(dead_code, reason = "no value of these types is ever made")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value as Json;

/// A type that is one piece of schema.
macro_rules! shape {
    ($(#[doc = $doc:literal] $name:ident = $schema:tt;)*) => {$(
        #[doc = $doc]
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!($schema);
                schema.insert("description".to_owned(), Json::from($doc.trim()));
                schema
            }
        }
    )*};
}

shape! {
    #[doc = "A duration such as `30s` or `1m30s` (ns us ms s m h d), or a reference."]
    Duration = {
        "type": "string",
        "pattern": r"^\s*(([0-9][0-9._]*|\.[0-9][0-9._]*)\s*(ns|us|ms|s|m|h|d)\s*)+$|\$\{"
    };
    #[doc = "A duration, or a bare count of requests."]
    Extent = {
        "anyOf": [
            { "$ref": "#/$defs/Duration" },
            { "type": "integer", "minimum": 0 }
        ]
    };
    #[doc = "A size such as `64KB` (64,000 bytes) or `64KiB` (65,536), or a bare count of bytes."]
    Size = {
        "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string" }
        ]
    };
    #[doc = "A percentage such as `0.1%`."]
    Share = { "type": "string", "pattern": r"%\s*$|\$\{" };
    #[doc = "A rate such as `200/s`."]
    Rate = { "type": "string", "pattern": r"/|\$\{" };
    #[doc = "A whole number, or a reference alone."]
    Count = {
        "anyOf": [
            { "type": "integer", "minimum": 0 },
            { "type": "string", "pattern": r"^\$\{[^}]*\}$" }
        ]
    };
    #[doc = "Text, or a number or flag as text."]
    Scalar = { "type": ["string", "integer", "number", "boolean"] };
    #[doc = "A program and its arguments."]
    Command = {
        "anyOf": [
            { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/Scalar" } },
            { "type": "string", "pattern": r"^\$\{[^}]*\}$" }
        ]
    };
    #[doc = "One text or a list of them."]
    Texts = {
        "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" } }
        ]
    };
    #[doc = "Cores such as `0-3,6`, or a bare core."]
    Cores = { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }] };
    #[doc = "Status codes that count as success: one, or a list."]
    Statuses = {
        "anyOf": [
            { "$ref": "#/$defs/Count" },
            { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/Count" } }
        ]
    };
    #[doc = "A value of `vars`: anything, or `{ env = \"NAME\", default = ... }`."]
    Variable = {
        "type": ["string", "integer", "number", "boolean", "array", "object"]
    };
    #[doc = "A setting of the mock as `assay mock` takes it."]
    MockSetting = { "type": ["string", "integer", "number"] };
    #[doc = "A weight above 0."]
    Weight = { "type": "number", "exclusiveMinimum": 0 };
    #[doc = "A value of a swept key."]
    Swept = { "type": ["string", "integer", "number", "boolean", "array"] };
    #[doc = "A pause: `auto` is what the cells need."]
    Gap = { "anyOf": [{ "const": "auto" }, { "$ref": "#/$defs/Duration" }] };
    #[doc = "Whether instances get a discarded first run: `auto` for those of several runs."]
    WarmupRun = { "enum": ["auto", true, false] };
}

/// A bench: what is measured.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "assay bench")]
pub(super) struct Bench {
    /// Variables, used as `${vars.name}`.
    vars: Option<BTreeMap<String, Variable>>,
    /// Systems under test by name.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Name" }))]
    target: Option<BTreeMap<String, Target>>,
    /// Requests by name.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Name" }))]
    scenario: Option<BTreeMap<String, Scenario>>,
    /// How work arrives, by name.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Name" }))]
    load: Option<BTreeMap<String, Load>>,
    /// Load generators beside assay's own, by name.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Name" }))]
    generator: Option<BTreeMap<String, Generator>>,
    /// What is varied.
    #[schemars(extend("propertyNames" = { "$ref": "#/$defs/Name" }))]
    factors: Option<BTreeMap<String, Factor>>,
    /// Exceptions: cells to skip or to patch.
    r#where: Option<Vec<Where>>,
    /// Blocks and orders.
    matrix: Option<Matrix>,
    /// Cores by role.
    cpus: Option<Cpus>,
    /// Bounds of the gates.
    gates: Option<Gates>,
    /// Observers.
    observe: Option<Observe>,
    /// What is compared.
    compare: Option<Compare>,
    /// What must stand before anything is started.
    require: Option<Require>,
    /// What each rival explanation predicts, registered before the first run.
    hypothesis: Option<Vec<Hypothesis>>,
}

/// A system under test: one of `command`, `mock`, `url`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Target {
    /// A process.
    command: Option<Command>,
    /// assay's own mock.
    mock: Option<Mock>,
    /// `http://host:port` of something that runs already.
    url: Option<String>,
    /// Where it listens, `host:port`; port 0 is a free one, `${target.port}`.
    address: Option<Address>,
    /// Environment added to the parent's.
    env: Option<BTreeMap<String, Scalar>>,
    /// Working directory, relative to the bench file.
    cwd: Option<Scalar>,
    /// How it is stopped.
    stop: Option<Stop>,
    /// When it is ready; else when its port accepts.
    ready: Option<Ready>,
    /// How long an instance lives.
    fresh: Option<Fresh>,
    /// Estimate of its bring-up.
    bring_up: Option<Duration>,
    /// Variables that adapt scenarios to it.
    vars: Option<BTreeMap<String, Variable>>,
    /// How its version is asked for, and the pin.
    version: Option<Version>,
}

/// An address.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Address {
    /// `host:port`.
    Plain(String),
    /// By protocol.
    Named(Addresses),
}

/// Addresses by protocol.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Addresses {
    /// Of plaintext HTTP.
    http: Option<String>,
}

/// The flags of `assay mock`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Mock {
    /// Time each request sleeps: `10ms`, or a law as `lognormal:10ms:0.5`.
    latency: Option<MockSetting>,
    /// Bytes of a body.
    body_size: Option<MockSetting>,
    /// Seed of its random choices.
    seed: Option<MockSetting>,
    /// `1s/5s`: stalls of this length in every period.
    stall: Option<MockSetting>,
    /// `1%:status=503` (also `body`, `reset`, `never`), one or several.
    fail: Option<Texts>,
    /// `5s:10x`: slower at first.
    cold: Option<MockSetting>,
    /// `+1%/min`: growing latency.
    drift: Option<MockSetting>,
    /// `10s:1.3x`: slower from then on.
    slow_after: Option<MockSetting>,
    /// `3.5%:225ms`: a share takes longer.
    spike: Option<MockSetting>,
    /// `100`: a connection is closed after so many requests.
    close: Option<MockSetting>,
    /// `22ms`: a section that one request at a time may hold.
    serialise: Option<MockSetting>,
    /// `8`: so many requests are worked on at once.
    workers: Option<MockSetting>,
    /// `100`: more waiting requests are refused with 503.
    queue: Option<MockSetting>,
    /// `10s..20s:0.25x`: a time with this share of the capacity.
    dip: Option<MockSetting>,
    /// `10/min`: more requests of an address are refused with 429.
    rate_limit: Option<MockSetting>,
    /// Each answer says how long it queued, slept and was worked on.
    truth_header: Option<MockSetting>,
    /// Connections that may wait to be accepted.
    backlog: Option<MockSetting>,
    /// A file that says what is answered on which path, relative to the bench file.
    script: Option<MockSetting>,
    /// `2ms`: sleeps so much longer than asked, for tests.
    bias: Option<MockSetting>,
    /// `instrument` or `subject`.
    office: Option<MockSetting>,
    /// `127.0.0.1:0`: a second port that tells the truth so far and takes another script.
    control: Option<MockSetting>,
}

/// How a process is stopped.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Stop {
    /// Signal without `SIG`.
    signal: Option<Signal>,
    /// Time before the whole tree is killed.
    grace: Option<Duration>,
}

/// Signals that can end a process.
#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
pub(super) enum Signal {
    Term,
    Int,
    Hup,
    Quit,
    Kill,
    Usr1,
    Usr2,
}

/// When a target is ready; one of `get` and `line`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Ready {
    /// Port to connect to instead of the address's.
    port: Option<Count>,
    /// Path that must answer.
    get: Option<Scalar>,
    /// Text in a line of its output.
    line: Option<String>,
    /// Bound on the wait.
    within: Option<Duration>,
}

/// How long an instance lives.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Fresh {
    /// One per run.
    Run,
    /// One per level of the innermost factor that changes the target.
    Change,
    /// All stay up.
    Matrix,
}

/// A version as the program reports it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Version {
    /// Command that prints it.
    command: Option<Command>,
    /// Text that must be in it.
    is: Option<Scalar>,
}

/// A request: one of the methods with its path.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Scenario {
    /// GET this path.
    get: Option<Scalar>,
    /// POST to this path.
    post: Option<Scalar>,
    /// PUT to this path.
    put: Option<Scalar>,
    /// PATCH this path.
    patch: Option<Scalar>,
    /// DELETE this path.
    delete: Option<Scalar>,
    /// HEAD of this path.
    head: Option<Scalar>,
    /// OPTIONS of this path.
    options: Option<Scalar>,
    /// Extra headers.
    headers: Option<BTreeMap<String, Scalar>>,
    /// Body.
    body: Option<String>,
    /// What an answer must be.
    expect: Option<Expect>,
    /// Variables.
    vars: Option<BTreeMap<String, Variable>>,
    /// This row's patch of the load.
    load: Option<Load>,
    /// Its targets; elsewhere it is skipped.
    only: Option<Texts>,
}

/// What an answer must be to count as success.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Expect {
    /// Status codes; 200.
    status: Option<Statuses>,
    /// The body.
    body: Option<BodyCheck>,
    /// Its exact size.
    size: Option<Size>,
}

/// A check of the body.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum BodyCheck {
    /// Byte for byte.
    Equals(String),
    /// A part of it.
    Contains(Contains),
}

/// A part of a body.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Contains {
    /// The text.
    contains: String,
}

/// How work arrives: one of `users` and `rate`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Load {
    /// A closed loop of this many users.
    users: Option<Count>,
    /// An open loop at this constant rate, in total.
    rate: Option<Rate>,
    /// An open loop whose rate is held or ramps, stage by stage: `200/s for 10s`, `to 1000/s in 30s`.
    stages: Option<Texts>,
    /// Closed loop: pause of a user after each answer.
    think: Option<Duration>,
    /// Closed loop: from one request of a user to its next.
    pacing: Option<Duration>,
    /// Law of the gaps between arrivals.
    arrival: Option<ArrivalLaw>,
    /// Of drawn gaps.
    #[schemars(range(min = 0))]
    seed: Option<u64>,
    /// Discarded at the start.
    warmup: Option<Extent>,
    /// The measured window.
    measure: Option<Extent>,
    /// Closed loop: the window as so many requests, split evenly over the users.
    iterations: Option<Count>,
    /// Bound on the drain after the window.
    cooldown: Option<Duration>,
    /// Connection mode.
    connections: Option<Connections>,
    /// Addresses that connections come from, in turn.
    sources: Option<Texts>,
    /// Cap on connections of an open loop.
    max_connections: Option<Count>,
    /// After this a request in flight has failed.
    timeout: Option<Duration>,
}

/// Law of the gaps between arrivals.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum ArrivalLaw {
    /// Each gap is the rate's own.
    Constant,
    /// Exponential gaps.
    Poisson,
}

/// What must stand before anything is started.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Require {
    /// A calibration for this host, transport and arrival model.
    calibration: Option<RequireCalibration>,
}

/// A calibration that is asked for.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RequireCalibration {
    /// Oldest that counts.
    age: Option<Duration>,
    /// Share of the knee above which a cell is flagged.
    knee: Option<Share>,
}

/// Connection mode.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum Connections {
    /// One for each user, reused.
    PerUser,
    /// A few for all users.
    Shared,
    /// One for each request.
    New,
}

/// A load generator: one of `adapter`, `command`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Generator {
    /// A tool that assay knows how to start and to read.
    adapter: Option<Adapter>,
    /// Any program; `{url}`, `{address}`, `{path}`, `{users}`, `{rate}`, `{seconds}`, `{count}`,
    /// `{threads}` and `{phase}` are filled in.
    command: Option<Command>,
    /// A script of yours, for an adapter that takes one.
    script: Option<Scalar>,
    /// Arguments added to those of the job.
    args: Option<Vec<Scalar>>,
    /// Of a command: regular expressions whose named groups are its figures.
    #[schemars(length(min = 1))]
    patterns: Option<Vec<String>>,
}

/// A tool that assay knows.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Adapter {
    /// wrk.
    Wrk,
    /// k6.
    K6,
    /// h2load, in HTTP/1.1.
    H2load,
    /// oha.
    Oha,
    /// hey.
    Hey,
    /// ApacheBench.
    Ab,
    /// siege.
    Siege,
    /// Locust.
    Locust,
}

/// A factor.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Factor {
    /// Fixed: recorded, not in cell names.
    Fixed(String),
    /// Names of tables, baseline first; `null` repeats the baseline, `null-x` level `x`, and
    /// `positive` is the baseline slowed.
    List(#[schemars(length(min = 2))] Vec<String>),
    /// One key varied.
    Sweep(Sweep),
    /// Levels that patch, baseline first.
    Levels(BTreeMap<String, Level>),
}

/// One key varied.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Sweep {
    /// The key, such as `load.measure`.
    key: String,
    /// Its values, baseline first.
    #[schemars(length(min = 2))]
    values: Vec<Swept>,
}

/// A level.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(clippy::large_enum_variant, reason = "no value of it is ever made")]
pub(super) enum Level {
    /// One that repeats another.
    Repeats(String),
    /// What it patches.
    Patch(Patch),
}

/// What a level sets.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Patch {
    /// Of the target.
    target: Option<Target>,
    /// Of the scenario.
    scenario: Option<Scenario>,
    /// Of the load.
    load: Option<Load>,
    /// Another setting of the generator.
    generator: Option<Generator>,
    /// Variables.
    vars: Option<BTreeMap<String, Variable>>,
    /// Cores.
    cpus: Option<Cpus>,
    /// Observers.
    observe: Option<Observe>,
}

/// What `[[where]]` sets: as a level, and gates.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct WherePatch {
    /// Of the target.
    target: Option<Target>,
    /// Of the scenario.
    scenario: Option<Scenario>,
    /// Of the load.
    load: Option<Load>,
    /// Another setting of the generator.
    generator: Option<Generator>,
    /// Variables.
    vars: Option<BTreeMap<String, Variable>>,
    /// Cores.
    cpus: Option<Cpus>,
    /// Observers.
    observe: Option<Observe>,
    /// Bounds of the gates.
    gates: Option<Gates>,
}

/// An exception: cells that match are skipped or patched.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Where {
    /// Levels by factor: a name, a list, a glob, or `!x`.
    r#match: BTreeMap<String, Texts>,
    /// Why they are skipped.
    skip: Option<String>,
    /// What is set in them.
    set: Option<WherePatch>,
}

/// Blocks and orders.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Matrix {
    /// How often the cells repeat.
    #[schemars(range(min = 1, max = 1000))]
    blocks: Option<u32>,
    /// Pause between runs.
    gap: Option<Gap>,
    /// Varied factors, outermost first.
    nest: Option<Vec<String>>,
    /// How levels are ordered, of all factors or by factor.
    order: Option<Order>,
    /// Seed of every random choice.
    seed: Option<u64>,
    /// Discarded first runs.
    warmup_run: Option<WarmupRun>,
    /// Bound on one run.
    timeout: Option<Duration>,
    /// Share of the time above which factors that change the target go outside.
    bring_up_share: Option<Share>,
    /// Whether the memory layout of targets differs from one pair of blocks to the next.
    layout: Option<Layout>,
}

/// The memory layout of the targets.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Layout {
    /// As it comes.
    Fixed,
    /// The environment is padded by a length of its own in each pair of blocks.
    Vary,
}

/// How levels are ordered.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Order {
    /// Of all factors.
    All(Policy),
    /// By factor.
    By(BTreeMap<String, Policy>),
}

/// How levels are ordered.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Policy {
    /// Rows of a Williams design and their reverses.
    Balanced,
    /// As written.
    Fixed,
    /// A fresh permutation in every block, from the seed.
    Shuffle,
}

/// Cores by role.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Cpus {
    /// Of the target.
    target: Option<Cores>,
    /// Of the mock; the target's.
    mock: Option<Cores>,
    /// Of the generator.
    generator: Option<Cores>,
    /// Of the parent.
    parent: Option<Cores>,
    /// Roles that may share cores.
    overlap: Option<Vec<Role>>,
}

/// A role.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Role {
    /// The system under test.
    Target,
    /// assay's own mock.
    Mock,
    /// The load generator.
    Generator,
    /// The parent and its observer.
    Parent,
}

/// Bounds of the gates.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Gates {
    /// Share of failed requests above which a run is void.
    failures: Option<Share>,
    /// Shortest measured window.
    window: Option<Duration>,
    /// Smallest share of the planned rate.
    achieved: Option<Share>,
    /// Share of the generator's cores above which it is flagged.
    generator_cpu_flag: Option<Share>,
    /// Share of the generator's cores above which latency is void.
    generator_cpu: Option<Share>,
    /// Fewest samples of the observers in the window.
    samples: Option<Count>,
    /// Fewest successes in the window.
    requests: Option<Count>,
    /// Smallest share of the asked window.
    truncated: Option<Share>,
    /// The highest percentile that the window must have samples for.
    percentile: Option<Share>,
    /// p99 of the send lag as a share of the p50 latency above which an open loop is flagged.
    lag_flag: Option<Share>,
    /// The same, above which its latency is void.
    lag: Option<Share>,
    /// A p50 latency below this counts as this.
    lag_base: Option<Duration>,
    /// Largest share of each loop that may lie outside the requests.
    little: Option<Share>,
    /// Reconnects that no failure explains, per request.
    connection_shape: Option<Share>,
    /// Fewest whole seconds of a window that is tested for steadiness.
    steady_seconds: Option<Count>,
    /// Largest drift over the window.
    trend: Option<Share>,
    /// Largest difference between the halves of the window.
    halves: Option<Share>,
    /// Smallest change of level inside the window that is flagged.
    shift_flag: Option<Share>,
    /// Smallest change of level inside the window that voids the run.
    shift: Option<Share>,
    /// Largest difference between the first fifth of the window and the rest.
    warm_up: Option<Share>,
    /// Smallest share of requests that is a mode of its own.
    hidden_mode: Option<Share>,
    /// Largest lateness of the mock's sleeps, as a share of what was asked.
    mock_late: Option<Share>,
    /// Largest stolen share of all cores.
    steal: Option<Share>,
    /// Largest share of one core used by a process that took no part.
    foreign: Option<Share>,
    /// Largest drop of the cores' frequency inside the window.
    frequency: Option<Share>,
    /// How far the mean frequency of the window may be below its own highest.
    clock_variance: Option<Share>,
    /// Largest change of the time that a fixed loop takes, before the load and after it.
    speed: Option<Share>,
    /// Hottest start, degrees Celsius.
    start_temperature: Option<u64>,
    /// Largest one-minute load average over the number of cores.
    load_average: Option<Share>,
    /// Shortest pause after a run that left sockets behind.
    gap: Option<Duration>,
    /// Width of the band of throughput in which busy generators measure themselves.
    generator_cluster: Option<Share>,
}

/// Observers.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Observe {
    /// Between samples.
    interval: Option<Duration>,
}

/// What is compared, and what is registered about it before the first run.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Compare {
    /// The metric that the verdict is about.
    primary: Option<Metric>,
    /// The factors that are compared; all but rows without it.
    factors: Option<Texts>,
    /// The level that the others are compared with, where it is not the first; of the only
    /// factor that has it, or by factor.
    baseline: Option<Baseline>,
    /// The factor whose levels are the rows of a geometric mean.
    over: Option<String>,
    /// Rows that stand beside the mean and never in it.
    guard: Option<Texts>,
    /// Weight of a row, 1 where it is not named.
    weight: Option<BTreeMap<String, Weight>>,
    /// Smallest effect that matters, of all metrics or by metric.
    margin: Option<Margin>,
    /// Share by which a positive control is slowed, up to `100%`; `5%` without it.
    positive: Option<Share>,
    /// Keys in which the two runs of a pair may differ though no factor sets them.
    allow: Option<Texts>,
    /// Looks at the data that are planned; an earlier one pays for itself.
    #[schemars(range(min = 1, max = 8))]
    looks: Option<u32>,
    /// What must differ between the arms before any other figure is shown.
    manipulation: Option<Manipulations>,
}

/// The level that the others are compared with.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Baseline {
    /// Of the only compared factor that has it.
    Level(String),
    /// By factor.
    By(BTreeMap<String, String>),
}

/// Smallest effect that matters.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Margin {
    /// Of all metrics.
    All(Share),
    /// By metric; `*` is for all others.
    By(BTreeMap<String, MarginOf>),
}

/// A margin; or a table, where the metric's name has a dot and is written bare.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum MarginOf {
    /// The margin.
    Share(Share),
    /// `cpu_per_request` of a role.
    Role(BTreeMap<String, Share>),
}

/// Manipulation checks.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Manipulations {
    /// One.
    One(Manipulation),
    /// Several.
    Several(Vec<Manipulation>),
}

/// A quantity that must differ between the arms, or the factor did nothing.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Manipulation {
    /// The factor; the only compared one without it.
    factor: Option<String>,
    /// The quantity.
    metric: Quantity,
    /// Smallest share by which level and baseline must differ, either way; `50%` without it.
    least: Option<Share>,
}

/// What one explanation predicts.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Hypothesis {
    /// A few words.
    #[schemars(length(min = 1, max = 60))]
    name: String,
    /// The factor; the only compared one without it.
    factor: Option<String>,
    /// The level; the only one beside baseline and controls without it.
    level: Option<String>,
    /// The metric; the primary one without it.
    metric: Option<Quantity>,
    /// Change of the level against the baseline, such as `+1.0%`.
    predicts: Share,
}

/// A metric, or a count that says what an arm is.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(super) enum Quantity {
    /// A metric.
    Metric(Metric),
    /// A count.
    Shape(ShapeCount),
}

/// A count that says what an arm is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub(super) enum ShapeCount {
    /// Connections opened.
    Connections,
    /// Connections opened over requests.
    ConnectionsPerRequest,
}

/// A metric.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(super) enum Metric {
    Throughput,
    P50,
    P90,
    P95,
    P99,
    P999,
    Failures,
    Time,
    #[schemars(rename = "target.cpu_per_request")]
    TargetCpu,
    #[schemars(rename = "generator.cpu_per_request")]
    GeneratorCpu,
}
