//! Controls as levels: a positive control is seen, in the mock and in a real server.

use record::compare::{Contrast, Matrix};
use record::layout;
use record::plan::TargetKind;

use crate::support::{Bench, Lab, digest, quoted, read};

/// The contrast of `level` in the primary metric.
fn contrast<'m>(matrix: &'m Matrix, level: &str) -> &'m Contrast {
    let found = matrix.contrasts.iter().find(|one| one.level == level && one.primary);
    found.unwrap_or_else(|| panic!("no contrast of {level}: {:#?}", matrix.contrasts))
}

/// nginx as it comes, one worker, in front of a page that it compresses anew for every request:
/// a few milliseconds of its own CPU each.
const NGINX: &str = r#"
nginx=$(command -v nginx || echo /usr/sbin/nginx)
[ -x "$nginx" ] || { echo 'nginx is missing: apt-get install nginx-light' >&2; exit 127; }
cd "$DIR" && DIR=$PWD && mkdir -p www temp && seq 1 20000 > www/index.html
[ "$(id -u)" != 0 ] || user='user root;'
cat > nginx.conf <<CONF
daemon off; $user worker_processes 1; pid $DIR/nginx.pid; error_log stderr warn;
events {}
http {
  access_log off; keepalive_requests 1000000000; default_type text/plain;
  client_body_temp_path temp/b; proxy_temp_path temp/p; fastcgi_temp_path temp/f;
  uwsgi_temp_path temp/u; scgi_temp_path temp/s;
  gzip on; gzip_comp_level 9; gzip_types *;
  server { listen 127.0.0.1:$PORT; root $DIR/www; }
}
CONF
exec "$nginx" -p "$DIR" -c "$DIR/nginx.conf"
"#;

/// The positive control of the whole instrument: a real server that is bound by its CPU gets
/// half of it, by a brake that nobody told the generator of, and is found slower. Master and
/// worker are braked together.
#[test]
fn a_real_server_that_is_braked_is_slower() {
    let lab = Lab::new();
    lab.write("nginx.sh", NGINX);
    let bench = Bench::script("exec sh nginx.sh")
        .target("env.DIR", "\"${run.dir}\"")
        .scenario("headers", "{ Accept-Encoding = \"gzip\" }")
        .load("users", "4")
        .load("measure", "\"800ms\"")
        .matrix("blocks", "8")
        .more(
            "[cpus]\ntarget = \"0\"\n[factors]\ntarget = [\"api\", \"positive\"]\n\
             [compare]\npositive = \"100%\"\nmargin = \"10%\"",
        );
    let ended = lab.run(&bench, "braked", &[]).expect(0);
    lab.assert_nothing_runs();
    let matrix: Matrix = read(&lab.label("braked").join(layout::MATRIX_JSON));
    let found = contrast(&matrix, "positive");
    eprintln!("braked by 100 %: {:?}", found.effect_percent);
    assert_eq!((found.metric.as_str(), found.pairs, found.null), ("throughput", 8, false));
    assert_eq!(found.verdict, "slower", "{}", ended.stdout);
    assert_eq!(found.baseline, "api");
    // What ran is on record, and is not the same thing as its twin.
    let run = |cell: &str| {
        let run = matrix.runs.iter().find(|run| run.cell == cell).expect("each cell has runs");
        digest(&lab.label("braked").join(&run.path))
    };
    let (base, braked) = (run("api"), run("positive"));
    assert_eq!(base.identity.effective.target.slow_share, None);
    assert_eq!(braked.identity.effective.target.slow_share, Some(1.0));
    assert_ne!(base.identity.effective_sha256, braked.identity.effective_sha256);
    assert_eq!(braked.levels[0].positive, Some(1.0));
    assert_eq!(braked.levels[0].twin.as_deref(), Some("api"));
    assert_eq!(
        base.identity.processes["target"].sha256,
        braked.identity.processes["target"].sha256
    );
}

/// A mock's own account says that it slept longer by the share.
#[test]
fn a_mock_that_is_a_positive_control_sleeps_longer() {
    let lab = Lab::new();
    let bench = Bench::mock()
        .target("mock.latency", "\"10ms\"")
        .factor("latency", &[("base", "{}"), ("positive", "\"base\"")])
        .more("[factors.other]\na = {}\nb = { load.users = 3 }\n[compare]\npositive = \"50%\"");
    lab.run(&bench, "mock", &[]).expect(0);
    let matrix: Matrix = read(&lab.label("mock").join(layout::MATRIX_JSON));
    for run in &matrix.runs {
        let digest = digest(&lab.label("mock").join(&run.path));
        let witness = digest.mock.expect("the target is a mock");
        let slowest_ns = if run.levels["latency"] == "positive" { 15_000_000 } else { 10_000_000 };
        assert!(witness.sleep.slept_ns.min >= Some(slowest_ns), "{}", run.path);
        let TargetKind::Mock(config) = &digest.identity.effective.target.kind else {
            panic!("a mock")
        };
        assert_eq!(witness.config.slow_after, config.slow_after);
        assert_eq!(config.latency_ns, 10_000_000);
    }
}

/// What runs already cannot be slowed: refused before anything is started.
#[test]
fn what_runs_already_has_no_positive_control() {
    let lab = Lab::new();
    let bench = Bench::url("http://127.0.0.1:9")
        .more("[factors]\ntarget = [\"api\", \"other\", \"positive\"]\n[target.other]")
        .more(&format!("url = {}", quoted("http://127.0.0.1:10")));
    let ran = lab.run(&bench, "url", &[]).expect(2);
    let first = ran.stderr.lines().next().unwrap_or_default();
    insta::assert_snapshot!(first, @"error: bench.toml:32:27: `positive` cannot slow target `api`: a `url` runs already");
    assert!(!lab.path().join("results").exists(), "nothing was written");
}
