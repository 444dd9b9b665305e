//! The certificates that stand for what is about to be run: looked for in the state folder of the
//! user, never believed when changed, expired or of something else.

use std::collections::BTreeMap;

use record::certificate::{Certificate, CertificateOf, CertificateStub};
use record::plan::Plan;
use record::seal::Sealed;

use crate::output::Output;
use crate::state_dir;

/// Files looked at; one is kept for each generator, transport and host.
const MOST_FILES: usize = 256;

/// By name of the generator, for all generators of a plan.
pub(crate) fn standing(plan: &Plan, output: &Output) -> BTreeMap<String, CertificateStub> {
    let mut standing = BTreeMap::new();
    for cell in &plan.cells {
        let generator = &cell.effective.generator.name;
        if generator == "assay"
            && !standing.contains_key(generator)
            && let Some(stub) = of_own(&cell.effective.transport, output)
        {
            standing.insert(generator.clone(), stub);
        }
    }
    standing
}

/// The certificate of our own generator over a transport; says why a kept one does not stand.
pub(crate) fn of_own(transport: &str, output: &Output) -> Option<CertificateStub> {
    let here = CertificateOf::own(&observe::host_facts(), env!("CARGO_PKG_VERSION"), transport);
    let folder = state_dir::certificates()?;
    let mut doubts = Vec::new();
    for path in state_dir::kept(&folder, MOST_FILES) {
        let certificate = match Certificate::read(&path) {
            Ok(certificate) => certificate,
            Err(error) => {
                doubts.push(error.to_string());
                continue;
            }
        };
        let of = &certificate.of;
        if (&of.generator, &of.transport) != (&here.generator, &here.transport) {
            continue;
        }
        match certificate.usable(&here, clock::utc_now_ns()) {
            Ok(()) => return Some(certificate.stub()),
            Err(why) => doubts.push(format!("certificate `{}` is not used: {why}", path.display())),
        }
    }
    for doubt in doubts {
        output.remark(&format!("note: {doubt}; `assay certify` makes a new one"));
    }
    None
}
