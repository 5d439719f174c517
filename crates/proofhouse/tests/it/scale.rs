//! Shards on engines that nobody here wrote: a real Slurm, a real Ray, GNU parallel, and the published schemas of Kubernetes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{Lab, variable};

/// Engines that tests install. Where they could not be, the run of all tests fails and says what is missing; somebody who
/// runs single tests without them is told so.
fn required(what: &str) -> bool {
    let required = variable("PROOFHOUSE_REQUIRE_ENGINES").is_some();
    assert!(
        !required,
        "{what} is not there, and is not left out: `tools/slurm install` and `tools/ray install` say what is missing"
    );
    eprintln!(
        "left out: {what}; `tools/slurm install`, `tools/ray install` and PROOFHOUSE_ENGINES=1 bring it in"
    );
    false
}

fn tool(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools").join(name)
}

#[expect(clippy::disallowed_methods, reason = "tests start the real engines")]
fn program(path: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    command
}

fn output(command: &mut Command) -> (bool, String) {
    match command.output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => (false, error.to_string()),
    }
}

/// A cluster of one node that ends with the test.
struct Slurm(PathBuf);

impl Slurm {
    fn start(dir: PathBuf) -> Option<Slurm> {
        let there = ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"];
        let asked = variable("PROOFHOUSE_ENGINES").is_some();
        if !asked || !there.iter().all(|path| Path::new(path).exists()) {
            required("Slurm");
            return None;
        }
        let (started, said) = output(program(tool("slurm")).arg("start").arg(&dir));
        let cluster = Slurm(dir);
        assert!(started, "{said}");
        Some(cluster)
    }

    fn ask(&self, words: &[&str]) -> String {
        let (worked, said) =
            output(program(words[0]).args(&words[1..]).env("SLURM_CONF", self.0.join("slurm.conf")));
        assert!(worked, "{words:?}: {said}");
        said
    }

    /// Waits until `is` holds, for three minutes at most.
    fn until(&self, what: &str, mut is: impl FnMut(&Self) -> bool) {
        for _ in 0..900 {
            if is(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("{what} did not happen:\n{}", self.ask(&["squeue", "-a"]));
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = output(program(tool("slurm")).arg("stop").arg(&self.0));
    }
}

/// A code suite of forty completions over twenty tasks, each of which waits, so that there is something to be in the middle of.
pub fn code_suite(lab: &Lab, wait_ms: u32) {
    let (mut problems, mut samples) = (String::new(), String::new());
    for task in 0..20 {
        problems += &format!(
            "{{\"task_id\":\"t{task}\",\"prompt\":\"def f(x):\\n\",\"entry_point\":\"f\",\"canonical_solution\":\"    return x + {task}\\n\",\"test\":\"def check(f):\\n    assert f(1) == {}\\n\"}}\n",
            task + 1
        );
        for wrong in 0..2 {
            samples += &format!(
                "{{\"task_id\":\"t{task}\",\"completion\":\"    import time\\n    time.sleep({wait_ms} / 1000)\\n    return x + {}\\n\"}}\n",
                task + wrong
            );
        }
    }
    lab.write("s/problems.jsonl", problems).write("s/samples.jsonl", samples).write(
        "s/code.yaml",
        "kind: code\nsuite_id: sums\nlanguage: python\nproblems: problems.jsonl\nsamples: {given: samples.jsonl}\n",
    );
}

#[test]
fn slurm_runs_shards_that_are_killed_requeued_and_drained_to_the_same_bytes() {
    let lab = Lab::new();
    let Some(slurm) = Slurm::start(lab.path("cluster")) else { return };
    code_suite(&lab, 300);
    lab.tools("run s/code.yaml --run-dir whole --quiet --no-cache").exits(0);
    let conf = slurm.0.join("slurm.conf");
    let words = "launch slurm s/code.yaml --run-dir parts --shards 16 --workers 2 --cpus 1 --memory-gib 1 --submit -- --no-cache --jobs 1";
    let words: Vec<&str> = words.split(' ').collect();
    let submitted = lab.finish(lab.command_with_tools(&words).env("SLURM_CONF", &conf)).exits(0);
    let jobs: Vec<&str> = submitted.stdout.lines().collect();
    let [array, merging] = jobs[..] else { panic!("two jobs: {}", submitted.stdout) };
    let status = || lab.tools("status parts --shards 16");
    let states = |slurm: &Slurm, job: &str| {
        slurm.ask(&["squeue", "-a", "-r", "-h", "-t", "all", "-j", job, "-o", "%K %T"])
    };
    assert_eq!(status().code, Some(8), "not whole yet");

    // A process is killed, by nobody that Slurm knows: its task goes back into the queue by itself.
    let mut victim = None;
    slurm.until("a shard has begun", |_| {
        victim = begun(&lab);
        victim.is_some()
    });
    let (killed, pid) = victim.unwrap();
    assert!(output(program("kill").args(["-9", &pid])).0, "shard {killed} ran as process {pid}");
    slurm.until("status sees that it is gone", |_| {
        status().stdout.contains(&format!("shard {killed}/16: stopped"))
    });
    // Another task is requeued while it runs.
    let mut requeued = None;
    slurm.until("another task is requeued", |slurm| {
        let running = states(slurm, array);
        let task =
            running.lines().find(|line| line.ends_with(" RUNNING")).and_then(|line| line.split(' ').next());
        requeued = task.filter(|task| *task != killed).map(str::to_owned);
        let Some(task) = &requeued else { return false };
        output(program("scontrol").args(["requeue", &format!("{array}_{task}")]).env("SLURM_CONF", &conf)).0
    });
    let restarts = |slurm: &Slurm, task: &str| {
        slurm.ask(&["scontrol", "show", "job", &format!("{array}_{task}")]).contains("Restarts=1")
    };
    slurm.until("both are queued again", |slurm| {
        restarts(slurm, &killed) && restarts(slurm, requeued.as_deref().unwrap())
    });

    // Half-way the node is drained: what runs ends, nothing new begins, until it is back.
    slurm.until("a shard is whole", |_| status().stdout.contains(" complete"));
    let node = format!("NodeName={}", slurm.ask(&["sinfo", "-h", "-o", "%n"]).trim());
    slurm.ask(&["scontrol", "update", &node, "State=DRAIN", "Reason=test"]);
    slurm.until("nothing runs", |slurm| {
        !states(slurm, array).contains("RUNNING") && !states(slurm, array).contains("COMPLETING")
    });
    let drained = status();
    assert_eq!(drained.code, Some(8), "{}", drained.stdout);
    assert!(!drained.stdout.contains("running"), "nothing runs: {}", drained.stdout);
    assert!(drained.stdout.contains("not started"), "it was half-way: {}", drained.stdout);
    assert_eq!(status().stdout, drained.stdout, "nothing moves while the node is drained");
    slurm.ask(&["scontrol", "update", &node, "State=RESUME"]);
    slurm.until("the merge job ends", |slurm| states(slurm, merging).contains("COMPLETED"));
    status().exits(0).says("parts: merged");
    assert_eq!(lab.run_files("parts"), lab.run_files("whole"));
    lab.tools("verify parts").exits(0);
}

/// A shard that has begun and not ended, and the process that runs it.
fn begun(lab: &Lab) -> Option<(String, String)> {
    (0..16).find_map(|index| {
        let path = lab.path(&format!("parts.shard-{index:04}-of-0016.run.json.tmp"));
        let envelope: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some((index.to_string(), envelope["pid"].to_string()))
    })
}

/// The Python that has Ray.
fn ray_python() -> Option<PathBuf> {
    let (_, path) = output(program(tool("ray")).arg("python"));
    let path = PathBuf::from(path.trim());
    if path.exists() || required("Ray, or the validator of Kubernetes objects") { Some(path) } else { None }
}

#[test]
fn ray_runs_shards_without_a_shared_file_system_though_a_node_goes_away() {
    let Some(python) = ray_python() else { return };
    let lab = Lab::new();
    code_suite(&lab, 100);
    lab.tools("run s/code.yaml --run-dir whole --quiet --no-cache").exits(0);
    let words = "launch ray s/code.yaml --run-dir out/parts --shards 16 --workers 3 --cpus 1 --memory-gib 1 -- --no-cache --jobs 1";
    lab.tools(words).exits(0).says("out/parts.ray.py");
    // Two nodes on this machine, the second of which is taken away when the first shard is whole.
    lab.write("cluster.py", include_str!("scale/ray_cluster.py"));
    let mut command = program(&python);
    command.arg(lab.path("cluster.py")).arg(lab.path("out/parts.ray.py")).current_dir(lab.path("s"));
    command.env("RAY_USAGE_STATS_ENABLED", "0").env("RAY_DEDUP_LOGS", "0");
    let (worked, said) = output(&mut command);
    assert!(worked, "{said}");
    assert!(said.contains("node removed"), "{said}");
    let whole = (0..16).filter(|shard| said.contains(&format!("shard {shard}: complete"))).count();
    assert_eq!(whole, 16, "{said}");
    assert_eq!(lab.run_files("out/parts"), lab.run_files("whole"), "{said}");
    lab.tools("status out/parts").exits(0).says("out/parts: merged");
    // Started again, the driver goes on from the shards that are there: without a cluster, as nothing is left to run.
    let (worked, said) = output(program(&python).arg(lab.path("out/parts.ray.py")));
    assert!(worked && !said.contains("Connect"), "{said}");
    assert_eq!(lab.run_files("out/parts"), lab.run_files("whole"), "{said}");
}

/// Compares what was written with a file of the tree; `PROOFHOUSE_UPDATE=1` writes that anew.
fn is_as_kept(name: &str, text: &str) {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scale").join(name);
    if variable("PROOFHOUSE_UPDATE").is_some() {
        std::fs::write(&kept, text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&kept).unwrap_or_default(), text, "{name}");
}

#[test]
fn slurm_scripts_are_what_they_were() {
    let lab = Lab::new();
    code_suite(&lab, 0);
    lab.tools("launch slurm s/code.yaml --run-dir out/parts --shards 100 --workers 20 --sbatch=--partition=cpu -- --no-cache")
        .exits(0)
        .says("40 trials in 100 shards, 20 at a time")
        .says("100 shards for 20 groups of trials")
        .says("job=$(sbatch --parsable out/parts.slurm.sh)");
    let scripts = ["slurm.sh", "merge.slurm.sh"].map(|name| lab.read(&format!("out/parts.{name}"))).concat();
    let here = lab.path("").canonicalize().unwrap();
    let scripts = scripts.replace(env!("CARGO_BIN_EXE_proofhouse"), "/usr/bin/proofhouse");
    let scripts = scripts.replace(here.to_str().unwrap().trim_end_matches('/'), "/work");
    is_as_kept("slurm.sh", &scripts);
    let (fine, said) = output(program("sh").args(["-n"]).arg(lab.path("out/parts.slurm.sh")));
    assert!(fine, "{said}");
    lab.tools("run s/code.yaml --run-dir before --limit 2 --no-cache --quiet").exits(0);
    // What would refuse every shard is said before any is started.
    lab.tools("launch slurm s/code.yaml --run-dir out/p -- --no-such-flag").exits(2).says("--no-such-flag");
    lab.tools("launch slurm s/code.yaml --run-dir out/p -- --shard 1/2")
        .exits(2)
        .says("what follows `--` has to be flags");
    lab.tools("launch slurm nowhere.yaml --run-dir out/p").exits(3);
    lab.tools("launch slurm s/code.yaml --run-dir before").exits(11).says("`before` holds a run already");
    // How long trials took before says how many shards are worth while.
    lab.tools("launch slurm s/code.yaml --run-dir out/p --measured before --workers 4")
        .exits(0)
        .says("40 trials in 4 shards, about");
}

#[test]
fn kubernetes_objects_are_what_the_published_schemas_say() {
    let lab = Lab::new();
    code_suite(&lab, 0);
    let words =
        "launch k8s s/code.yaml --run-dir runs/parts --shards 5 --workers 2 --image example/proofhouse:0.1";
    lab.tools(words).exits(0).says("kubectl apply -f runs/parts.k8s.yaml");
    let text = lab.read("runs/parts.k8s.yaml");
    is_as_kept("k8s.yaml", &text);
    let documents: Vec<serde_json::Value> =
        text.split("---\n").skip(1).map(|document| serde_saphyr::from_str(document).unwrap()).collect();
    let job = &documents[1]["spec"];
    assert_eq!((job["completionMode"].as_str(), job["completions"].as_u64()), (Some("Indexed"), Some(5)));
    assert_eq!(job["template"]["spec"]["automountServiceAccountToken"], false);
    assert_eq!(job["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"], true);
    lab.tools("launch k8s /etc/x.yaml --run-dir p --image i").exits(2).says("not below the volume");
    let Some(python) = ray_python() else { return };
    let valid = |path: PathBuf| {
        let validator = python.with_file_name("kubernetes-validate");
        let (fine, said) = output(program(&python).arg(validator).args(["--strict", "-k", "1.31"]).arg(path));
        // Of a kind that it does not know it says no more than that.
        (fine && said.matches("passed for resource").count() == 3, said)
    };
    let (fine, said) = valid(lab.path("runs/parts.k8s.yaml"));
    assert!(fine, "{said}");
    for (right, wrong) in [
        ("completions: 5", "completions: five"),
        ("completionMode:", "completionmode:"),
        ("kind: \"Job\"", "kind: \"Jab\""),
    ] {
        assert!(text.contains(right), "{right}");
        lab.write("wrong.yaml", text.replace(right, wrong));
        assert!(!valid(lab.path("wrong.yaml")).0, "a validator that does not see `{wrong}` proves nothing");
    }
    // What the containers call is what the program knows.
    let args = |job: &serde_json::Value| -> Vec<String> {
        job["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let shard = args(&documents[1]["spec"]["template"]["spec"]["containers"][0]);
    let merge = &documents[2]["spec"]["template"]["spec"];
    for index in [1, 0, 4, 2, 3] {
        let words: Vec<&str> = shard.iter().map(String::as_str).collect();
        let mut command = lab.command_with_tools(&words);
        command.env("JOB_COMPLETION_INDEX", index.to_string()).env("PROOFHOUSE_SHARD_COUNT", "5");
        lab.finish(&mut command).exits(0);
    }
    for container in [&merge["initContainers"][0], &merge["containers"][0]] {
        lab.tools(&args(container).join(" ")).exits(0);
    }
    lab.tools("run s/code.yaml --run-dir whole --quiet").exits(0);
    assert_eq!(lab.run_files("runs/parts"), lab.run_files("whole"));
}

/// The line of docs/scale.md that begins so, without what is before it.
fn documented(beginning: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scale.md");
    let page = std::fs::read_to_string(page).unwrap();
    let line = page.lines().map(str::trim).find(|line| line.starts_with(beginning));
    line.unwrap_or_else(|| panic!("docs/scale.md has no line that begins with {beginning}")).to_owned()
}

#[test]
fn gnu_parallel_is_one_line() {
    let lab = Lab::new();
    lab.busy_suite(60, 0);
    lab.run("run busy.yaml --run-dir whole --quiet").exits(0);
    if !Path::new("/usr/bin/parallel").exists() {
        required("GNU parallel");
        return;
    }
    let line = documented("seq 0 99 | parallel")
        .replace("suite.yaml", "busy.yaml")
        .replace("0 99", "0 6")
        .replace("{}/100", "{}/7")
        .replace("-j 16", "-j 2 --will-cite")
        .replace("proofhouse", env!("CARGO_BIN_EXE_proofhouse"));
    let (worked, said) = output(program("/bin/sh").args(["-c", &line]).current_dir(lab.path("")));
    assert!(worked, "{said}");
    assert_eq!(lab.run_files("runs/x"), lab.run_files("whole"));
}

/// As the recipe for GitHub Actions has it: every job has a machine of its own, and a folder of artefacts brings them together.
#[test]
fn a_matrix_of_jobs_is_one_run() {
    let lab = Lab::new();
    lab.busy_suite(60, 0);
    lab.run("run busy.yaml --run-dir whole --quiet").exits(0);
    let shard = documented("PROOFHOUSE_SHARD: ${{");
    let shard = shard.trim_start_matches("PROOFHOUSE_SHARD: ");
    let words = documented("- run: proofhouse run suite.yaml");
    let words = words.trim_start_matches("- run: proofhouse ").replace("suite.yaml", "busy.yaml");
    let words: Vec<&str> = words.split(' ').collect();
    for job in 0..8 {
        let shard = shard
            .replace("${{ strategy.job-index }}", &job.to_string())
            .replace("${{ strategy.job-total }}", "8");
        lab.finish(lab.command(&words).env("PROOFHOUSE_SHARD", shard)).exits(0);
        std::fs::create_dir_all(lab.path("artefacts")).unwrap();
        for name in output(program("ls").arg(lab.path("runs"))).1.lines() {
            std::fs::rename(lab.path("runs").join(name), lab.path("artefacts").join(name)).unwrap();
        }
    }
    std::fs::remove_dir(lab.path("runs")).unwrap();
    std::fs::rename(lab.path("artefacts"), lab.path("runs")).unwrap();
    let words = documented("- run: proofhouse merge");
    lab.run(words.trim_start_matches("- run: proofhouse ")).exits(0);
    assert_eq!(lab.run_files("runs/x"), lab.run_files("whole"));
}
