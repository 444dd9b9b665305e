//! For `speed/collapsed`: reads a file once by this crate or by inferno's own folder of collapsed
//! stacks, and prints seconds and the total.
#![expect(clippy::print_stdout, reason = "the script reads it")]

use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use inferno::collapse::Collapse;
use inferno::collapse::recursive::{Folder, Options};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, path] = arguments.as_slice() else {
        return Err("usage: fold assay|inferno FILE".into());
    };
    let input = BufReader::with_capacity(1 << 20, File::open(path)?);
    let start = Instant::now();
    if who == "assay" {
        let read = profile::collapsed::Collapsed::read(input, Default::default())?;
        let rows = read.profile.leaves().rows.len() + read.profile.inclusive().rows.len();
        println!("{:.6} {} {rows}", start.elapsed().as_secs_f64(), read.profile.total().weight);
    } else {
        let mut folded = Vec::new();
        let mut options = Options::default();
        options.nthreads = 1;
        Folder::from(options).collapse(input, &mut folded)?;
        println!("{:.6} - {}", start.elapsed().as_secs_f64(), folded.len());
    }
    Ok(())
}
