//! How requests to stop and to flush reach the loop: flags for what is wanted, and a socket
//! pair whose reading end is watched by the loop, so that nothing polls. Signals and threads
//! use the same way in.

use std::fmt;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;

use record::mock::MockRecord;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};

use crate::MockError;

/// Questions that wait for the loop at most.
const QUESTIONS_MAX: usize = 4;
/// How long a question waits for its answer: longer than any catching up.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// What the control port asks of the loop.
#[derive(Debug)]
pub(crate) enum Question {
    /// The record so far, as JSON.
    Truth,
    /// The configuration in effect.
    Config,
    /// Another script, from now on.
    Script(String),
}

/// A status and a JSON text.
pub(crate) type Reply = (u16, String);

#[derive(Debug)]
struct Asked {
    question: Question,
    reply: SyncSender<Reply>,
}

type OnFlush = Box<dyn FnMut(MockRecord) + Send>;

/// What the loop is asked to do. Requests made before the loop looks fall together: two
/// flushes in one instant are one flush.
pub struct Control {
    wake_reader: UnixStream,
    handle: Handle,
    on_flush: OnFlush,
    signals: Vec<SigId>,
    questions: Option<Receiver<Asked>>,
}

/// Asks a running mock to stop or to flush, from another thread.
#[derive(Debug, Clone)]
pub struct Handle {
    stop: Arc<AtomicBool>,
    flush: Arc<AtomicBool>,
    wake_writer: Arc<UnixStream>,
    questions: SyncSender<Asked>,
}

impl Control {
    /// A control that no signal reaches yet, and that drops flushed records.
    ///
    /// # Errors
    /// [`MockError::System`] when no socket pair can be made.
    pub fn new() -> Result<Self, MockError> {
        let system = |source| MockError::System { what: "the control socket pair", source };
        let (wake_reader, wake_writer) = UnixStream::pair().map_err(system)?;
        wake_reader.set_nonblocking(true).map_err(system)?;
        wake_writer.set_nonblocking(true).map_err(system)?;
        let (sender, questions) = mpsc::sync_channel(QUESTIONS_MAX);
        let handle = Handle {
            stop: Arc::default(),
            flush: Arc::default(),
            wake_writer: Arc::new(wake_writer),
            questions: sender,
        };
        let questions = Some(questions);
        Ok(Self { wake_reader, handle, on_flush: Box::new(drop), signals: Vec::new(), questions })
    }

    /// Calls `on_flush` with the record of each flush, on the mock's own thread: while it
    /// runs, nothing is answered.
    #[must_use]
    pub fn on_flush(mut self, on_flush: impl FnMut(MockRecord) + Send + 'static) -> Self {
        self.on_flush = Box::new(on_flush);
        self
    }

    /// Lets the process's signals in: SIGTERM and SIGINT stop, SIGUSR1 flushes. They are let
    /// go when the control is dropped, and then do nothing.
    ///
    /// # Errors
    /// [`MockError::System`] when a handler cannot be installed.
    pub fn with_signals(mut self) -> Result<Self, MockError> {
        let system = |source| MockError::System { what: "signal handlers", source };
        for (signal, flag) in [
            (SIGTERM, &self.handle.stop),
            (SIGINT, &self.handle.stop),
            (SIGUSR1, &self.handle.flush),
        ] {
            // Actions run in the order of registration: the flag is up before the loop wakes.
            let id = signal_hook::flag::register(signal, Arc::clone(flag)).map_err(system)?;
            self.signals.push(id);
            let writer = self.handle.wake_writer.try_clone().map_err(system)?;
            let id = signal_hook::low_level::pipe::register(signal, writer).map_err(system)?;
            self.signals.push(id);
        }
        Ok(self)
    }

    /// A handle for other threads.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// The end that becomes readable when something is asked.
    pub(crate) fn wake_reader(&self) -> BorrowedFd<'_> {
        self.wake_reader.as_fd()
    }

    /// Empties the wake-up socket; the flags are looked at after it.
    pub(crate) fn woken(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.wake_reader.read(&mut bytes), Ok(1..)) {}
    }

    /// Whether a flush is asked; asking is over with it.
    pub(crate) fn take_flush(&self) -> bool {
        self.handle.flush.swap(false, Ordering::AcqRel)
    }

    /// Whether a stop is asked.
    pub(crate) fn stop_asked(&self) -> bool {
        self.handle.stop.load(Ordering::Acquire)
    }

    /// Answers what was asked, by `reply`.
    pub(crate) fn answer(&self, mut reply: impl FnMut(Question) -> Reply) {
        while let Some(asked) = self.questions.as_ref().and_then(|q| q.try_recv().ok()) {
            // Who asked may have given up.
            let _ = asked.reply.send(reply(asked.question));
        }
    }

    /// No question is answered any more; those that wait are told at once.
    pub(crate) fn close_questions(&mut self) {
        self.questions = None;
    }

    pub(crate) fn flushed(&mut self, record: MockRecord) {
        (self.on_flush)(record);
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        for id in self.signals.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl Handle {
    /// Asks the mock to stop and return its record. Also before it runs.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake();
    }

    /// Asks the mock to hand over its record and start a fresh one.
    pub fn flush(&self) {
        self.flush.store(true, Ordering::Release);
        self.wake();
    }

    /// The answer to a question; `None` when the mock is gone or does not answer.
    pub(crate) fn ask(&self, question: Question) -> Option<Reply> {
        let (reply, answer) = mpsc::sync_channel(1);
        self.questions.try_send(Asked { question, reply }).ok()?;
        self.wake();
        answer.recv_timeout(ANSWER_WITHIN).ok()
    }

    fn wake(&self) {
        // A full socket means that a wake-up is pending, a closed one that the mock is gone.
        let _ = (&*self.wake_writer).write(&[0]);
    }
}
