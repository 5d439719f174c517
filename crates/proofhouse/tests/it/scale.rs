//! Shards on engines that nobody here wrote: a real Slurm, a real Ray, GNU parallel, and the published schemas of Kubernetes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::Lab;

/// Engines that tests install. Where they could not be, the run of all tests fails and says what is missing; somebody who
/// runs single tests without them is told so.
fn required(what: &str) -> bool {
    #[expect(clippy::disallowed_methods, reason = "the test command says what it has installed")]
    let required = std::env::var_os("PROOFHOUSE_REQUIRE_ENGINES").is_some();
    assert!(!required, "{what} is not there although `./test` should have installed it");
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
        #[expect(clippy::disallowed_methods, reason = "a cluster is started only where somebody asks for it")]
        let asked = std::env::var_os("PROOFHOUSE_ENGINES").is_some();
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

/// A code suite of forty completions over twenty tasks, some of which wait, so that there is something to be in the middle of.
fn code_suite(lab: &Lab) {
    let (mut problems, mut samples) = (String::new(), String::new());
    for task in 0..20 {
        problems += &format!(
            "{{\"task_id\":\"t{task}\",\"prompt\":\"def f(x):\\n\",\"entry_point\":\"f\",\"canonical_solution\":\"    return x + {task}\\n\",\"test\":\"def check(f):\\n    assert f(1) == {}\\n\"}}\n",
            task + 1
        );
        for wrong in 0..2 {
            samples += &format!(
                "{{\"task_id\":\"t{task}\",\"completion\":\"    return x + {}\\n\"}}\n",
                task + wrong
            );
        }
    }
    lab.write("s/problems.jsonl", problems).write("s/samples.jsonl", samples).write(
        "s/code.yaml",
        "kind: code\nsuite_id: sums\nlanguage: python\nproblems: problems.jsonl\nsamples: [samples.jsonl]\n",
    );
}

#[test]
fn slurm_runs_shards_that_are_killed_requeued_and_drained_to_the_same_bytes() {
    let lab = Lab::new();
    let Some(slurm) = Slurm::start(lab.path("cluster")) else { return };
    code_suite(&lab);
    lab.tools("run s/code.yaml --run-dir whole --quiet --no-cache").exits(0);
    let conf = slurm.0.join("slurm.conf");
    let words = "launch slurm s/code.yaml --run-dir parts --shards 16 --workers 2 --cpus 1 --memory-gib 1 --submit -- --no-cache --jobs 1";
    let words: Vec<&str> = words.split(' ').collect();
    let submitted = lab.finish(lab.command_with_tools(&words).env("SLURM_CONF", &conf)).exits(0);
    let jobs: Vec<&str> = submitted.stdout.lines().collect();
    let [array, merging] = jobs[..] else { panic!("two jobs: {}", submitted.stdout) };
    let status = || lab.tools("status parts");
    let states = |slurm: &Slurm, job: &str| {
        slurm.ask(&["squeue", "-a", "-r", "-h", "-t", "all", "-j", job, "-o", "%K %T"])
    };

    // One task is killed and requeued while it runs.
    slurm.until("a task runs", |slurm| states(slurm, array).contains("RUNNING"));
    assert!(status().code != Some(0), "not whole yet");
    let running = states(&slurm, array);
    let task = running.lines().find(|line| line.ends_with("RUNNING")).and_then(|line| line.split(' ').next());
    if let Some(task) = task {
        let _ = output(
            program("scontrol").args(["requeue", &format!("{array}_{task}")]).env("SLURM_CONF", &conf),
        );
    }
    // Half-way the node is drained: what runs ends, nothing new begins, until it is back.
    slurm.until("a shard is whole", |_| status().stdout.contains(" whole"));
    let host = slurm.ask(&["scontrol", "show", "hostnames"]);
    let host = if host.trim().is_empty() { slurm.ask(&["sinfo", "-h", "-o", "%n"]) } else { host };
    let node = format!("NodeName={}", host.trim());
    slurm.ask(&["scontrol", "update", &node, "State=DRAIN", "Reason=test"]);
    slurm.until("nothing runs", |slurm| {
        !states(slurm, array).contains("RUNNING") && !states(slurm, array).contains("COMPLETING")
    });
    let drained = status();
    let done = |text: &str| text.lines().last().map(str::to_owned);
    assert_eq!(drained.code, Some(8), "{}", drained.stdout);
    assert!(!drained.stdout.contains("running"), "nothing runs: {}", drained.stdout);
    assert_eq!(done(&status().stdout), done(&drained.stdout), "nothing moves while the node is drained");
    slurm.ask(&["scontrol", "update", &node, "State=RESUME"]);
    slurm.until("the merge job ends", |slurm| states(slurm, merging).contains("COMPLETED"));
    lab.tools("status parts").exits(0).says("parts: merged");
    assert_eq!(lab.run_files("parts"), lab.run_files("whole"));
    lab.tools("verify parts").exits(0);
}

/// The Python that has Ray.
fn ray_python() -> Option<PathBuf> {
    let (_, path) = output(program(tool("ray")).arg("python"));
    let path = PathBuf::from(path.trim());
    if path.exists() || required("Ray") { Some(path) } else { None }
}

#[test]
fn ray_runs_shards_without_a_shared_file_system_though_a_node_goes_away() {
    let Some(python) = ray_python() else { return };
    let lab = Lab::new();
    code_suite(&lab);
    lab.tools("run s/code.yaml --run-dir whole --quiet --no-cache").exits(0);
    let words = "launch ray s/code.yaml --run-dir parts --shards 16 --workers 3 --cpus 1 --memory-gib 1 -- --no-cache --jobs 1";
    lab.tools(words).exits(0).says("parts.ray.py");
    // Two nodes on this machine, the second of which is taken away when the first shard is whole.
    lab.write("cluster.py", include_str!("scale/ray_cluster.py"));
    let mut command = program(&python);
    command.arg(lab.path("cluster.py")).arg(lab.path("parts.ray.py")).current_dir(lab.path("s"));
    command.env("RAY_USAGE_STATS_ENABLED", "0").env("RAY_DEDUP_LOGS", "0");
    let (worked, said) = output(&mut command);
    assert!(worked, "{said}");
    assert!(said.contains("node removed"), "{said}");
    assert_eq!(lab.run_files("parts"), lab.run_files("whole"), "{said}");
}

#[test]
fn kubernetes_objects_are_what_the_published_schemas_say() {
    let lab = Lab::new();
    code_suite(&lab);
    let words = "launch k8s s/code.yaml --run-dir runs/parts --shards 5 --image example/proofhouse:0.1";
    lab.tools(words).exits(0).says("kubectl apply -f runs/parts.k8s.yaml");
    let text = lab.read("runs/parts.k8s.yaml");
    let documents: Vec<serde_json::Value> =
        text.split("---\n").skip(1).map(|document| serde_json::from_str(document).unwrap()).collect();
    let job = &documents[1]["spec"];
    assert_eq!((job["completionMode"].as_str(), job["completions"].as_u64()), (Some("Indexed"), Some(5)));
    assert_eq!(job["template"]["spec"]["automountServiceAccountToken"], false);
    assert_eq!(job["template"]["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"], true);
    lab.tools("launch k8s /etc/x.yaml --run-dir p --image i").exits(2).says("not below the volume");
    let Some(python) = ray_python() else { return };
    let validator = python.with_file_name("kubernetes-validate");
    let (valid, said) = output(
        program(&python).arg(validator).args(["--strict", "-k", "1.31"]).arg(lab.path("runs/parts.k8s.yaml")),
    );
    assert!(valid, "{said}");
    lab.write("wrong.yaml", text.replace("\"completions\": 5", "\"completions\": \"five\""));
    let (valid, _) = output(
        program(&python)
            .arg(python.with_file_name("kubernetes-validate"))
            .args(["--strict", "-k", "1.31"])
            .arg(lab.path("wrong.yaml")),
    );
    assert!(!valid, "a validator that finds nothing proves nothing");
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
    let line = format!(
        "seq 0 6 | parallel --will-cite -j 2 {} run busy.yaml --run-dir parts --shard {{}}/7 --resume --quiet",
        env!("CARGO_BIN_EXE_proofhouse")
    );
    let (worked, said) = output(program("/bin/sh").args(["-c", &line]).current_dir(lab.path("")));
    assert!(worked, "{said}");
    lab.run("merge parts --quiet").exits(0);
    assert_eq!(lab.run_files("parts"), lab.run_files("whole"));
}
