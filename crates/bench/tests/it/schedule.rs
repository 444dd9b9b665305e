//! Schedules beyond the plain matrix: shuffled orders, layouts, rehearsals and extensions.

use std::collections::BTreeSet;

use bench::Overrides;
use insta::assert_snapshot;
use record::plan::{Extension, Extent, Plan, Rehearsal};

use crate::support::{dirs, plan, plan_with, refused, single, with};

const SIZES: &str = "[factors]
size = { key = \"vars.size\", values = [1, 2, 3, \"null\"] }
";

fn orders(plan: &Plan) -> Vec<Vec<&str>> {
    (1..=plan.blocks)
        .map(|block| {
            let runs = plan.runs.iter().filter(|run| run.block == block);
            runs.map(|run| run.cell.as_str()).collect()
        })
        .collect()
}

#[test]
fn a_shuffle_is_fresh_and_repeatable() {
    let text = |seed: u32| {
        single(&format!("{SIZES}[matrix]\nblocks = 6\norder = \"shuffle\"\nseed = {seed}"))
    };
    let plan_of = |seed| plan(&text(seed));
    let first = plan_of(1);
    assert_eq!(first.order, "shuffle");
    assert!(first.orders.is_empty());
    assert_eq!(first, plan_of(1));
    assert_ne!(orders(&first), orders(&plan_of(2)));
    let distinct: BTreeSet<Vec<&str>> = orders(&first).into_iter().collect();
    assert!(distinct.len() > 2, "{distinct:?}");
    for order in orders(&first) {
        let members: BTreeSet<&str> = order.into_iter().collect();
        assert_eq!(members, BTreeSet::from(["1", "2", "3", "null"]));
    }
    assert_snapshot!(first.notes.join("\n"), @"
levels that give the same run, a null: `1` = `2` = `3`
the order of `size` is shuffled anew in every block, from seed 1; that each level leads equally often is not promised
pairs lie at most this many runs apart: `size` 3
24 bring-ups take about 4.80 s, 4 % of the time
");
    // An odd number of shuffled blocks has no order that leads once more than it should.
    let odd = plan(&text(1).replace("blocks = 6", "blocks = 7"));
    assert!(!odd.notes.iter().any(|note| note.contains("odd")), "{:?}", odd.notes);
}

/// One factor is shuffled, the others keep their policy.
#[test]
fn orders_by_factor() {
    let text = with(
        "[factors]\ntarget = [\"nginx\", \"tomcat\"]\nsize = { key = \"vars.size\", values = [1, 2] }\n[matrix]\nblocks = 6\norder = { target = \"shuffle\", size = \"fixed\" }",
    );
    let plan = plan(&text);
    assert_eq!(plan.order, "target=shuffle, size=fixed");
    let by: Vec<String> = plan.orders.iter().map(|(f, p)| format!("{f} {p}")).collect();
    assert_eq!(by, ["size fixed", "target shuffle"]);
    for block in orders(&plan) {
        assert!(
            block[0].ends_with("+1") && block[2].ends_with("+2"),
            "sizes as written: {block:?}"
        );
    }
    let leads: BTreeSet<&str> = orders(&plan).iter().map(|block| block[0]).collect();
    assert_eq!(leads, BTreeSet::from(["nginx+1", "tomcat+1"]), "either target leads at times");
    assert_snapshot!(refused(&single(&format!("{SIZES}[matrix]\norder = \"suffle\""))), @r#"
bench.toml:11:9: `suffle` is no value of `order`; nearest `shuffle`
  11 | order = "suffle"
     |         ^^^^^^^^
"#);
    assert_snapshot!(refused(&single(&format!("{SIZES}[matrix]\norder = {{ sizes = \"shuffle\" }}"))), @r#"
bench.toml:11:11: `sizes` in `order` is no varied factor; nearest `size`
  11 | order = { sizes = "shuffle" }
     |           ^^^^^
"#);
}

/// A-138: an order is made after filtering; what is left is balanced in itself.
#[test]
fn filtering_comes_before_ordering() {
    let text = single(&format!(
        "{SIZES}[matrix]\nblocks = 4\n[[where]]\nmatch = {{ size = \"2\" }}\nskip = \"too small\""
    ));
    assert_snapshot!(dirs(&plan(&text)), @"
01-01-1  01-02-3  01-03-null
02-01-null  02-02-3  02-03-1
03-01-3  03-02-null  03-03-1
04-01-1  04-02-null  04-03-3
");
    let overrides = Overrides { only: Some("?".into()), ..Overrides::default() };
    let filtered = plan_with(&text, &overrides).unwrap();
    assert_snapshot!(dirs(&filtered), @"
01-01-1  01-02-3
02-01-3  02-02-1
03-01-1  03-02-3
04-01-3  04-02-1
");
    assert_eq!(filtered.only.as_deref(), Some("?"));
}

#[test]
fn layouts_vary_by_pair_of_blocks() {
    let text = single(&format!("{SIZES}[matrix]\nblocks = 8\nlayout = \"vary\""));
    let varied = plan(&text);
    let bytes = |block: u32| -> BTreeSet<u32> {
        varied.runs.iter().filter(|run| run.block == block).map(|run| run.layout_bytes).collect()
    };
    for pair in 0..4 {
        let both: BTreeSet<u32> =
            bytes(2 * pair + 1).union(&bytes(2 * pair + 2)).copied().collect();
        assert_eq!(both.len(), 1, "both arms and both orders of a pair of blocks: {both:?}");
        assert!(both.iter().all(|bytes| (1..=4096).contains(bytes)));
    }
    let all: BTreeSet<u32> = varied.runs.iter().map(|run| run.layout_bytes).collect();
    assert_eq!(all.len(), 4);
    assert_eq!(varied, plan(&text), "from the seed alone");
    assert_ne!(varied.runs, plan(&text.replace("[matrix]", "[matrix]\nseed = 2")).runs);
    // No identity and no value of the bench knows of it.
    let fixed = plan(&text.replace("layout = \"vary\"", "layout = \"fixed\""));
    assert_eq!(fixed.cells, varied.cells);
    assert!(fixed.runs.iter().all(|run| run.layout_bytes == 0));
    assert!(varied.notes.iter().any(|note| note.contains("layout")));
}

#[test]
fn layouts_that_cannot_vary() {
    let url = "[target.a]\nurl = \"http://127.0.0.1:1\"\n[scenario.s]\nget = \"/\"\n[load.l]\nusers = 1\nmeasure = \"1s\"\n[matrix]\nlayout = \"vary\"";
    assert_snapshot!(refused(url), @r#"
bench.toml:9:10: `layout` cannot vary for target `a`: a `url` runs already
  9 | layout = "vary"
    |          ^^^^^^
    = help: leave `layout` out, or start the target by `command`
"#);
    let stays =
        single("[matrix]\nlayout = \"vary\"").replace("mock =", "fresh = \"matrix\"\nmock =");
    assert_snapshot!(refused(&stays), @r#"
bench.toml:10:10: `layout` cannot vary for target `api`, which stays up for the matrix
  10 | layout = "vary"
     |          ^^^^^^
     = help: its environment is set when it starts; write `fresh = "change"`
"#);
    assert_snapshot!(refused(&single("[matrix]\nlayout = \"random\"")), @r#"
bench.toml:9:10: `random` is no value of `layout`; valid: `fixed`, `vary`
  9 | layout = "random"
    |          ^^^^^^^^
"#);
}

fn rehearsed(text: &str, warmups: &str) -> Result<Plan, String> {
    let overrides = Overrides { rehearse: Some(warmups.to_owned()), ..Overrides::default() };
    plan_with(text, &overrides).map_err(|diagnostics| diagnostics.render())
}

/// Every contrast exists once for each warm-up, within which its pairs are neighbours.
#[test]
fn a_rehearsal_adds_a_row_of_warm_ups() {
    let text = with("[factors]\ntarget = [\"nginx\", \"tomcat\", \"null\"]\n[matrix]\nblocks = 2");
    let plan = rehearsed(&text, "warmup=2s,5s,15s").unwrap();
    let added = plan.factors.last().unwrap();
    assert!(added.name == "warmup" && !added.contrasted);
    assert_eq!(plan.nest, ["warmup", "target"]);
    let second = 1_000_000_000;
    let levels = [2, 5, 15].map(|s| (format!("{s}s"), Extent::Ns(s * second))).to_vec();
    let rehearsal =
        Rehearsal { factor: "warmup".into(), key: "load.warmup".into(), levels: levels.clone() };
    assert_eq!(plan.rehearsal, Some(rehearsal));
    assert_eq!(plan.cells.len(), 9);
    for (name, extent) in &levels {
        let cell = plan.cells.iter().find(|cell| cell.name == format!("tomcat+{name}")).unwrap();
        assert_eq!(cell.effective.load.warmup, *extent);
        assert_eq!(cell.origins["load.warmup"], format!("level warmup={name}"));
    }
    assert_snapshot!(dirs(&plan), @"
01-01-nginx+2s  01-02-tomcat+2s  01-03-null+2s  01-04-null+5s  01-05-tomcat+5s  01-06-nginx+5s  01-07-nginx+15s  01-08-tomcat+15s  01-09-null+15s
02-01-null+15s  02-02-tomcat+15s  02-03-nginx+15s  02-04-nginx+5s  02-05-tomcat+5s  02-06-null+5s  02-07-null+2s  02-08-tomcat+2s  02-09-nginx+2s
");
    // Counts too; and a `nest` of the file need not know of it.
    let nested = format!("{text}\nnest = [\"target\"]");
    let counted = rehearsed(&nested, "warmup=100, 1_000").map(|plan| plan.nest);
    assert_snapshot!(counted.unwrap_err(), @r#"
--rehearse:1:12: `1_000` is not a duration; write `"30s"`
  1 | warmup=100, 1_000
    |            ^^^^^^
"#);
    let counted = rehearsed(&nested, "warmup=100, 1000").unwrap();
    assert_eq!(counted.nest, ["warmup", "target"]);
    assert_eq!(counted.cells[0].effective.load.warmup, Extent::Count(100));
    assert_eq!(plan_with(&text, &Overrides::default()).unwrap().rehearsal, None);
}

#[test]
fn rehearsals_that_are_none() {
    let of =
        |warmups: &str| rehearsed(&with("[factors]\ntarget = \"nginx\""), warmups).unwrap_err();
    assert_snapshot!(of("warmup"), @"
--rehearse:1:1: `--rehearse` takes `warmup=` and its lengths
  1 | warmup
    | ^^^^^^
    = help: write `--rehearse warmup=2s,5s,15s`
");
    assert_snapshot!(of("measure=2s,5s"), @"
--rehearse:1:1: `--rehearse` takes `warmup=` and its lengths
  1 | measure=2s,5s
    | ^^^^^^^^^^^^^
    = help: write `--rehearse warmup=2s,5s,15s`
");
    assert_snapshot!(of("warmup=2s"), @"
--rehearse:1:1: one length shows no trend
  1 | warmup=2s
    | ^^^^^^^^^
    = help: write `--rehearse warmup=2s,5s,15s`
");
    assert_snapshot!(of("warmup=2s,2000ms"), @"
--rehearse:1:11: `2000ms` is there twice
  1 | warmup=2s,2000ms
    |           ^^^^^^
    = help: write `--rehearse warmup=2s,5s,15s`
");
    assert_snapshot!(of("warmup=2s,5"), @"
--rehearse:1:1: durations and counts of requests have no common order
  1 | warmup=2s,5
    | ^^^^^^^^^^^
    = help: write `--rehearse warmup=2s,5s,15s`
");
    assert_snapshot!(of("warmup=2s,soon"), @r#"
--rehearse:1:11: `soon` is not a duration; write `"30s"`
  1 | warmup=2s,soon
    |           ^^^^
"#);
    let own = with(
        "[factors]\ntarget = \"nginx\"\nwarmup = { key = \"load.warmup\", values = [\"1s\", \"2s\"] }",
    );
    assert_snapshot!(rehearsed(&own, "warmup=2s,5s").unwrap_err(), @r#"
bench.toml:14:1: factor `warmup` is in the bench; `--rehearse` adds one of this name
  14 | warmup = { key = "load.warmup", values = ["1s", "2s"] }
     | ^^^^^^
     = help: rehearse without it, or rename it
"#);
    let sets =
        with("[factors]\ntarget = \"nginx\"\n[factors.f]\na = {}\nb = { load.warmup = \"1s\" }");
    assert_snapshot!(rehearsed(&sets, "warmup=2s,5s").unwrap_err(), @"
--rehearse:1:8: factors `f` and `warmup` both set `load.warmup`
  1 | warmup=2s,5s
    |        ^^
--rehearse:1:11: factors `f` and `warmup` both set `load.warmup`
  1 | warmup=2s,5s
    |           ^^
");
}

fn extended(text: &str, parts: &[(u32, Option<&str>)]) -> Result<Plan, String> {
    let extensions = parts
        .iter()
        .map(|(blocks, only)| Extension {
            at_utc: "2025-01-01T00:00:00Z".into(),
            blocks: *blocks,
            only: only.map(str::to_owned),
        })
        .collect();
    let overrides = Overrides { extensions, ..Overrides::default() };
    plan_with(text, &overrides).map_err(|diagnostics| diagnostics.render())
}

/// K-092: screen, then more blocks of the interesting rows. Numbers of blocks go on, and nothing
/// that was planned before changes.
#[test]
fn an_extension_goes_on_where_the_plan_ended() {
    let text = single(&format!("{SIZES}[matrix]\nblocks = 2"));
    let before = plan(&text);
    let after = extended(&text, &[(2, None), (1, Some("[12]")), (2, Some("?"))]);
    assert_snapshot!(after.unwrap_err(), @"`--only [12]` matches no cell of the label");
    let after = extended(&text, &[(2, None), (2, Some("?"))]).unwrap();
    assert_eq!(after.blocks, 6);
    assert_eq!(after.extensions.len(), 2);
    assert_snapshot!(dirs(&after), @"
01-01-1  01-02-2  01-03-null  01-04-3
02-01-3  02-02-null  02-03-2  02-04-1
03-01-2  03-02-3  03-03-1  03-04-null
04-01-null  04-02-1  04-03-3  04-04-2
05-01-3  05-02-1  05-03-2
06-01-2  06-02-1  06-03-3
");
    assert_eq!(after.runs[..before.runs.len()], before.runs);
    assert_eq!((&after.cells, &after.nest), (&before.cells, &before.nest));
    let instances: BTreeSet<u32> = after.runs.iter().map(|run| run.instance).collect();
    assert_eq!(instances.len(), after.runs.len(), "one of its own for each run");
    assert!(after.estimate.time_ns > before.estimate.time_ns);
    assert_snapshot!(after.notes.join("\n"), @"
levels that give the same run, a null: `1` = `2` = `3`
blocks 3 to 4 added later: a look at the data lies before
blocks 5 to 6 of `?` added later: a look at the data lies before
pairs lie at most this many runs apart: `size` 3
22 bring-ups take about 4.40 s, 4 % of the time
");
    // As if the blocks had been there from the start.
    let whole = plan(&text.replace("blocks = 2", "blocks = 4"));
    assert_eq!(after.runs[..whole.runs.len()], whole.runs);
}

/// A label of many blocks keeps the names of its directories.
#[test]
fn names_do_not_change_with_the_number_of_blocks() {
    let text = single("[matrix]\nblocks = 99");
    let after = extended(&text, &[(2, None)]).unwrap();
    assert_eq!(after.runs[0].dir, "01-01-only");
    assert_eq!(after.runs[99].dir, "100-01-only");
}

/// What stays up for a matrix goes down at its end: an extension brings it up anew.
#[test]
fn an_extension_has_instances_of_its_own() {
    let text = single(&format!("{SIZES}[matrix]\nblocks = 2"))
        .replace("mock =", "fresh = \"matrix\"\nmock =");
    let after = extended(&text, &[(2, None)]).unwrap();
    let of = |blocks: std::ops::RangeInclusive<u32>| -> BTreeSet<u32> {
        after
            .runs
            .iter()
            .filter(|run| blocks.contains(&run.block))
            .map(|run| run.instance)
            .collect()
    };
    assert_eq!(of(1..=2).intersection(&of(3..=4)).count(), 0);
}

#[test]
fn extensions_that_are_too_much() {
    let text = single("[matrix]\nblocks = 999");
    assert_snapshot!(extended(&text, &[(2, None)]).unwrap_err(), @"
`--extend 2` makes 1001 blocks
  help: at most 1000
");
}
