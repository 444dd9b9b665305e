//! Bringing a target up: pin, port, start, readiness, in this order.
//!
//! Until it returns an [`Instance`] nothing is left running: every error path drops the child,
//! and dropping ends its tree. Waits are bounded by `ready.within` on the given clock and end
//! early when the child dies or the user interrupts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clock::Clock;
use record::layout;
use record::mock::MockConfig;
use record::plan::{Cpus, Target, TargetKind};

use crate::brake::Brake;
use crate::error::BringUpError;
use crate::guarded::{Guarded, Output, Spawn, Stdin};
use crate::instance::{Instance, Parts};
use crate::log::{Tail, last_lines};
use crate::port;
use crate::ready::{Check, join, split};
use crate::version;

/// What a bring-up needs besides the target.
pub struct Context<'a> {
    /// The program that dispatches `__guard` to [`crate::guard_main`].
    pub guardian: &'a Path,
    /// The program that has the verb `mock`.
    pub assay: &'a Path,
    /// Where the instance's logs go; exists. Known to the target as `${run.dir}`.
    pub dir: &'a Path,
    /// Scratch space; known to the target as `${run.scratch}`.
    pub scratch: &'a Path,
    /// Cores by role.
    pub cpus: &'a Cpus,
    /// Time of the waits.
    pub clock: &'a dyn Clock,
    /// Whether the user wants to stop; asked between tries.
    pub interrupted: &'a dyn Fn() -> bool,
}

/// Brings a target up and waits until it is ready.
///
/// # Errors
/// [`BringUpError`]; nothing of the target is left running.
pub fn bring_up(target: &Target, context: &Context<'_>) -> Result<Instance, BringUpError> {
    match &target.kind {
        TargetKind::Command(argv) => command(target, argv, context),
        TargetKind::Mock(config) => mock(target, config, context),
        TargetKind::Url(url) => running(target, url, context),
    }
}

fn command(
    target: &Target,
    argv: &[String],
    context: &Context<'_>,
) -> Result<Instance, BringUpError> {
    let place = match &target.address {
        Some(address) => Some(place(target, address)?),
        None => None,
    };
    if let Some((host, port)) = &place {
        refuse_taken(target, host, *port)?;
        if let Some(other) = target.ready.port.filter(|other| other != port) {
            refuse_taken(target, host, other)?;
        }
    }
    let words = Words { port: place.as_ref().map(|(_, port)| *port), context };
    let mut spawn = spawn(target, argv, &words, context);
    let version = version::check(target, &spawn, context)?;
    spawn.cpus.clone_from(&context.cpus.target);
    spawn.brake = target.slow_share.and_then(Brake::slowing_by);

    let mut ready = target.ready.clone();
    ready.get = ready.get.map(|path| words.fill(&path));
    ready.line = ready.line.map(|line| words.fill(&line));
    let logs = Logs::new(context.dir);
    let address = place.as_ref().map(|(host, port)| (host.as_str(), *port));
    let Some(mut check) = Check::new(&ready, address, &[&logs.stdout, &logs.stderr]) else {
        return Err(BringUpError::NoAddress { target: target.name.clone() });
    };
    let mut child = logs.start(target, &spawn, context)?;
    wait_ready(target, &mut Try::Check(&mut check), Some((&mut child, &logs)), context)?;
    Ok(Instance::new(Parts {
        address: address.map(|(host, port)| join(host, port)).unwrap_or_default(),
        version,
        child: Some(child),
        stop: target.stop.clone(),
        mock_record: None,
    }))
}

fn mock(
    target: &Target,
    config: &MockConfig,
    context: &Context<'_>,
) -> Result<Instance, BringUpError> {
    if let Some((host, port)) = split(&config.listen).filter(|(_, port)| *port != 0) {
        refuse_taken(target, &host, port)?;
    }
    let record = context.dir.join(layout::MOCK);
    let mut argv = vec![context.assay.display().to_string(), "mock".to_owned()];
    argv.extend(config.flags());
    argv.extend(["--json".to_owned(), record.display().to_string()]);
    let words = Words { port: None, context };
    let mut spawn = spawn(target, &argv, &words, context);
    spawn.cpus.clone_from(&context.cpus.mock);

    let logs = Logs::new(context.dir);
    let mut printed = Tail::from_end(&logs.stdout);
    let mut child = logs.start(target, &spawn, context)?;
    let mut address = None;
    let mut listening = Try::Listening(&mut printed, &mut address);
    wait_ready(target, &mut listening, Some((&mut child, &logs)), context)?;
    let (host, port) = address.expect("the wait ends well only with an address");
    if target.ready.get.is_some() || target.ready.line.is_some() {
        let near = Some((host.as_str(), port));
        if let Some(mut check) = Check::new(&target.ready, near, &[&logs.stdout, &logs.stderr]) {
            wait_ready(target, &mut Try::Check(&mut check), Some((&mut child, &logs)), context)?;
        }
    }
    Ok(Instance::new(Parts {
        address: join(&host, port),
        version: None,
        child: Some(child),
        stop: target.stop.clone(),
        mock_record: Some(record),
    }))
}

fn running(target: &Target, url: &str, context: &Context<'_>) -> Result<Instance, BringUpError> {
    let (host, port) = match &target.address {
        Some(address) => place(target, address)?,
        None => authority(url).ok_or_else(|| BringUpError::Address {
            target: target.name.clone(),
            address: record::redact::url(url),
            example: "http://127.0.0.1:8080/",
        })?,
    };
    let Some(mut check) = Check::new(&target.ready, Some((&host, port)), &[]) else {
        return Err(BringUpError::NoAddress { target: target.name.clone() });
    };
    wait_ready(target, &mut Try::Check(&mut check), None, context)?;
    Ok(Instance::new(Parts {
        address: join(&host, port),
        version: None,
        child: None,
        stop: target.stop.clone(),
        mock_record: None,
    }))
}

/// Host and port of a URL; the scheme's port when it names none.
fn authority(url: &str) -> Option<(String, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next()?;
    split(authority).or_else(|| split(&format!("{authority}:{default}")))
}

/// Host and port of the target's address, a free port for 0.
fn place(target: &Target, address: &str) -> Result<(String, u16), BringUpError> {
    let (host, port) = split(address).ok_or_else(|| BringUpError::Address {
        target: target.name.clone(),
        address: record::redact::url(address),
        example: "127.0.0.1:8080",
    })?;
    if port != 0 {
        return Ok((host, port));
    }
    match port::free(&host) {
        Ok(port) => Ok((host, port)),
        Err(source) => Err(BringUpError::NoPort { target: target.name.clone(), host, source }),
    }
}

/// Refuses a target whose fixed ports are taken, before anything of a matrix is written. Port 0
/// and a target that runs already are always fine.
///
/// # Errors
/// [`BringUpError::PortInUse`], [`BringUpError::Address`].
pub fn require_free_port(target: &Target) -> Result<(), BringUpError> {
    let address = match &target.kind {
        TargetKind::Url(_) => return Ok(()),
        TargetKind::Command(_) => target.address.as_deref(),
        TargetKind::Mock(config) => Some(config.listen.as_str()),
    };
    let Some(address) = address else { return Ok(()) };
    let (host, port) = split(address).ok_or_else(|| BringUpError::Address {
        target: target.name.clone(),
        address: record::redact::url(address),
        example: "127.0.0.1:8080",
    })?;
    if port == 0 { Ok(()) } else { refuse_taken(target, &host, port) }
}

fn refuse_taken(target: &Target, host: &str, port: u16) -> Result<(), BringUpError> {
    if port::taken(host, port) {
        let holder = port::holder(Path::new("/proc"), port);
        return Err(BringUpError::PortInUse { target: target.name.clone(), port, holder });
    }
    Ok(())
}

/// What the placeholders of run time stand for.
pub(crate) struct Words<'a> {
    port: Option<u16>,
    context: &'a Context<'a>,
}

impl Words<'_> {
    /// Replaces `${target.port}`, `${run.dir}` and `${run.scratch}`; the rest stays.
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some(port) = self.port {
            text = text.replace("${target.port}", &port.to_string());
        }
        text.replace("${run.dir}", &self.context.dir.display().to_string())
            .replace("${run.scratch}", &self.context.scratch.display().to_string())
    }
}

fn spawn(target: &Target, argv: &[String], words: &Words<'_>, context: &Context<'_>) -> Spawn {
    let logs = Logs::new(context.dir);
    Spawn {
        argv: argv.iter().map(|argument| words.fill(argument)).collect(),
        env: target.env.iter().map(|(name, value)| (name.clone(), words.fill(value))).collect(),
        env_clear: false,
        cwd: target.cwd.as_ref().map(|cwd| PathBuf::from(words.fill(cwd))),
        stdin: Stdin::Null,
        stdout: Output::File(logs.stdout),
        stderr: Output::File(logs.stderr),
        cpus: Vec::new(),
        brake: None,
    }
}

/// The logs of an instance, and how long they were before it.
struct Logs {
    stdout: PathBuf,
    stderr: PathBuf,
    stdout_from: u64,
    stderr_from: u64,
}

impl Logs {
    fn new(dir: &Path) -> Self {
        let stdout = dir.join(layout::STDOUT);
        let stderr = dir.join(layout::STDERR);
        let length = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
        Self { stdout_from: length(&stdout), stderr_from: length(&stderr), stdout, stderr }
    }

    fn start(
        &self,
        target: &Target,
        spawn: &Spawn,
        context: &Context<'_>,
    ) -> Result<Guarded, BringUpError> {
        Guarded::spawn(context.guardian, spawn)
            .map_err(|source| BringUpError::Start { target: target.name.clone(), source })
    }

    /// The last lines of standard error, else of standard output.
    fn last(&self) -> Vec<String> {
        let errors = last_lines(&self.stderr, self.stderr_from);
        if errors.is_empty() { last_lines(&self.stdout, self.stdout_from) } else { errors }
    }
}

/// One try at a time of what makes a target ready.
enum Try<'a> {
    Check(&'a mut Check),
    /// The mock prints its address when it listens.
    Listening(&'a mut Tail, &'a mut Option<(String, u16)>),
}

impl Try<'_> {
    fn describe(&self) -> String {
        match self {
            Self::Check(check) => check.describe(),
            Self::Listening(..) => "wait for the line `listening http://HOST:PORT`".to_owned(),
        }
    }

    fn attempt(&mut self, bound: Duration) -> Result<(), String> {
        match self {
            Self::Check(check) => check.attempt(bound),
            Self::Listening(tail, address) => {
                **address =
                    tail.find(false, |line| authority(line.strip_prefix("listening ")?.trim()));
                if address.is_some() { Ok(()) } else { Err("no such line yet".to_owned()) }
            }
        }
    }
}

fn wait_ready(
    target: &Target,
    attempt: &mut Try<'_>,
    mut child: Option<(&mut Guarded, &Logs)>,
    context: &Context<'_>,
) -> Result<(), BringUpError> {
    let name = || target.name.clone();
    let within_ns = target.ready.within_ns;
    let deadline_ns = context.clock.now_ns().saturating_add(within_ns);
    let mut pause = Duration::from_millis(1);
    loop {
        if (context.interrupted)() {
            return Err(BringUpError::Interrupted { target: name() });
        }
        let left_ns = deadline_ns.saturating_sub(context.clock.now_ns());
        let tried = attempt.attempt(Duration::from_nanos(left_ns));
        // Asked after the try: a port that answers although the child is dead is another's.
        if let Some((child, logs)) = &mut child
            && let Some(exit) = child.exited()
        {
            return Err(BringUpError::Died { target: name(), exit, last: logs.last() });
        }
        let error = match tried {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        if context.clock.now_ns() >= deadline_ns {
            return Err(BringUpError::NotReady {
                target: name(),
                within_ns,
                tried: attempt.describe(),
                error,
                last: child.map(|(_, logs)| logs.last()).unwrap_or_default(),
            });
        }
        match &mut child {
            // Wakes up at once when the child dies.
            Some((child, _)) => drop(child.wait(pause)),
            None => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities() {
        let of = |url| authority(url).map(|(host, port)| join(&host, port));
        assert_eq!(of("http://127.0.0.1:8080/a?b").as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(of("http://example.test").as_deref(), Some("example.test:80"));
        assert_eq!(of("https://u:p@example.test?x").as_deref(), Some("example.test:443"));
        assert_eq!(of("http://[::1]/").as_deref(), Some("[::1]:80"));
        for bad in ["", "127.0.0.1:80", "ftp://x", "http://", "http://:80"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
