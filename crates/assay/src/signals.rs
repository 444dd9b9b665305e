//! Signals become wishes: the first SIGINT asks to stop after the current run, a second one,
//! SIGTERM or SIGHUP at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lab::Interrupt;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Failure;

/// Routes signals to `interrupt` for the rest of the process.
pub(crate) fn route(interrupt: &Interrupt, on_first: fn()) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(Failure::failed)?;
    let interrupt = interrupt.clone();
    std::thread::spawn(move || {
        let mut interrupts = 0;
        for signal in signals.forever() {
            interrupts += usize::from(signal == SIGINT);
            if signal == SIGINT && interrupts == 1 {
                interrupt.after_run();
                on_first();
            } else {
                interrupt.at_once();
            }
        }
    });
    Ok(())
}

/// A flag that SIGINT and SIGTERM raise: for a process that ends its work and reports.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // A second signal ends the process as if there were no handler.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(Failure::failed)?;
    }
    Ok(flag)
}
