//! Tests with real processes. The binary starts itself: as guardian (`__guard`), as a stand-in
//! for the mock (`mock`) and as the parent that is killed (`parent`).

mod brake;
mod bring_up;
mod guardian;
mod probe;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.get(1).map(String::as_str) {
        Some("__guard") => std::process::exit(target::guard_main()),
        Some("mock") => return probe::mock(&arguments[2..]),
        Some("parent") => return probe::parent(&arguments[2..]),
        _ => {}
    }
    let trials = [guardian::TESTS, brake::TESTS, bring_up::TESTS]
        .concat()
        .into_iter()
        .map(|(name, test)| {
            Trial::test(name, move || {
                test();
                Ok(())
            })
        })
        .collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
