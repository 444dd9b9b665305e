//! Expansion: orders, instances, layers and what the plan says about them.

use crate::support::{dirs, plan, plan_with};
use bench::Overrides;
use record::plan::{Extent, Model, RunKind, TargetKind};

const TWO_SERVERS: &str = r#"
[target.nginx]
command = ["nginx", "-c", "${bench.dir}/nginx.conf"]
address = "127.0.0.1:18080"
[target.tomcat]
command = ["./tomcat/run.sh"]
address = "127.0.0.1:18081"
[scenario.small]
get = "/${vars.size}"
[load.steady]
users = 32
measure = "30s"
[vars]
size = "1k"
"#;

/// The worked example of the reference, verbatim.
#[test]
fn worked_example() {
    let text = format!(
        "{TWO_SERVERS}
[factors]
target = [\"nginx\", \"tomcat\", \"null\"]
size = {{ key = \"vars.size\", values = [\"1k\", \"64k\"] }}
[matrix]
blocks = 4
"
    );
    let plan = plan(&text);
    let expect = "\
01-01-nginx+1k  01-02-tomcat+1k  01-03-null+1k  01-04-nginx+64k  01-05-tomcat+64k  01-06-null+64k
02-01-null+64k  02-02-tomcat+64k  02-03-nginx+64k  02-04-null+1k  02-05-tomcat+1k  02-06-nginx+1k
03-01-tomcat+1k  03-02-null+1k  03-03-nginx+1k  03-04-tomcat+64k  03-05-null+64k  03-06-nginx+64k
04-01-nginx+64k  04-02-null+64k  04-03-tomcat+64k  04-04-nginx+1k  04-05-null+1k  04-06-tomcat+1k";
    assert_eq!(dirs(&plan), expect);
    assert_eq!(plan.nest, ["size", "target"]);
    let null = plan.cells.iter().find(|cell| cell.name == "null+64k").unwrap();
    let nginx = plan.cells.iter().find(|cell| cell.name == "nginx+64k").unwrap();
    assert_eq!(null.identity_sha256, nginx.identity_sha256);
    assert_eq!(null.levels[0].twin.as_deref(), Some("nginx"));
    assert_eq!(null.effective.scenario.path, "/64k");
    assert_eq!(null.effective.load.model, Model::Users(32));
    assert_eq!(null.effective.load.measure, Extent::Ns(30_000_000_000));
}

#[test]
fn a_minimal_bench_is_one_cell() {
    let plan = plan(
        r#"
[target.api]
mock = { latency = "5ms", body_size = "1KB" }
[scenario.get]
get = "/"
[load.main]
rate = "200/s"
measure = "5s"
"#,
    );
    assert_eq!(plan.cells.len(), 1);
    assert_eq!(plan.cells[0].name, "only");
    assert_eq!(plan.blocks, 12);
    assert_eq!(plan.runs[0].dir, "01-01-only");
    let TargetKind::Mock(mock) = &plan.cells[0].effective.target.kind else { panic!("no mock") };
    assert_eq!(mock.latency_ns, 5_000_000);
    assert_eq!(mock.body_size_bytes, 1000);
    assert_eq!(plan.estimate.bring_up_ns, 12 * 200_000_000);
    assert!(plan.runs.iter().all(|run| run.kind == RunKind::Measured));
}

#[test]
fn quick_shrinks() {
    let text = format!("{TWO_SERVERS}\n[factors]\ntarget = [\"nginx\", \"tomcat\"]\n");
    let overrides = Overrides { quick: true, blocks: Some(5), ..Overrides::default() };
    let plan = plan_with(&text, &overrides).unwrap();
    assert!(plan.quick);
    assert_eq!(plan.blocks, 1);
    let load = &plan.cells[0].effective.load;
    assert_eq!(load.warmup, Extent::Ns(200_000_000));
    assert_eq!(load.measure, Extent::Ns(500_000_000));
    assert_eq!(load.cooldown_ns, 500_000_000);
    assert_eq!(plan.cells[0].origins["load.measure"], "--quick");
}
