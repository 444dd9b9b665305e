//! Allocation by site as a program on top of the crate `jfrs` makes it: the deepest frame of a
//! package in each `jdk.ObjectAllocationSample`, weights added up.
//!
//!     rival-jfrs FILE PREFIX
//!
//! Written the way its own README reads events, with the site of each stack remembered by its
//! place, so that a stack is walked once per chunk and not once per event.

use std::collections::HashMap;
use std::fs::File;

use jfrs::reader::JfrReader;
use jfrs::reader::event::Accessor;

fn site(stack: Option<Accessor<'_>>, prefix: &str) -> String {
    let Some(frames) = stack.and_then(|stack| stack.get_field("frames")?.as_iter()) else {
        return "(no stack trace)".to_owned();
    };
    for frame in frames {
        let name = |of: Option<Accessor<'_>>| -> Option<String> {
            let text = of?.get_field("string")?;
            <&str>::try_from(text.value).ok().map(str::to_owned)
        };
        let Some(method) = frame.get_field("method") else { continue };
        let class = method.get_field("type").and_then(|class| name(class.get_field("name")));
        let class = class.unwrap_or_default();
        if class.starts_with(prefix) {
            let line = frame.get_field("lineNumber").and_then(|line| i32::try_from(line.value).ok());
            let method = name(method.get_field("name")).unwrap_or_default();
            return format!("{}.{method}:{}", class.replace('/', "."), line.unwrap_or(-1));
        }
    }
    "(no frame of the package)".to_owned()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(prefix)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: rival-jfrs FILE PREFIX");
        std::process::exit(2);
    };
    let prefix = prefix.replace('.', "/");
    let mut reader = JfrReader::new(File::open(file).expect("a readable file"));
    let mut sites: HashMap<String, (u64, u64)> = HashMap::new();
    let mut lost = 0_u64;
    for chunk in reader.chunks() {
        let (mut events, chunk) = chunk.expect("a whole chunk");
        let mut by_stack: HashMap<usize, (u64, u64)> = HashMap::new();
        let mut named: HashMap<usize, String> = HashMap::new();
        for event in events.events(&chunk) {
            let Ok(event) = event else {
                lost += 1;
                continue;
            };
            if event.class.name() != "jdk.ObjectAllocationSample" {
                continue;
            }
            let value = event.value();
            let weight = value.get_field("weight").and_then(|w| i64::try_from(w.value).ok());
            let stack = value.get_field("stackTrace");
            let key = stack.as_ref().map_or(0, |stack| std::ptr::from_ref(stack.value) as usize);
            named.entry(key).or_insert_with(|| site(stack, &prefix));
            let sum = by_stack.entry(key).or_default();
            sum.0 += weight.unwrap_or(0) as u64;
            sum.1 += 1;
        }
        for (key, (bytes, samples)) in by_stack {
            let sum = sites.entry(named[&key].clone()).or_default();
            sum.0 += bytes;
            sum.1 += samples;
        }
    }
    let mut rows: Vec<_> = sites.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1));
    let total: u64 = rows.iter().map(|row| row.1.0).sum();
    println!("{total} bytes, {lost} events lost");
    for (name, (bytes, samples)) in rows.iter().take(25) {
        println!("{bytes:>16} {samples:>10} {name}");
    }
}
