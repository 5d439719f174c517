//! Kubernetes: an indexed job with a completion for each shard, a volume for what they record, and a job that merges.

use clap::Args;
use proofhouse_ledger::json::to_json;

use super::super::Terminal;
use super::super::exit::Exit;
use super::super::failure::Failure;
use super::{Common, Plan};
use crate::spine::suite::yaml;

/// Write an indexed Job, a volume claim and a merge Job for Kubernetes.
///
/// SUITE and `--run-dir` are relative: the same files have to be in the volume, which is the working directory of every shard.
#[derive(Debug, Args)]
pub(super) struct Kubernetes {
    #[command(flatten)]
    common: Common,

    /// The container image that holds `proofhouse` and what the suite's programs need.
    #[arg(long, value_name = "IMAGE")]
    image: String,

    /// The size of the volume, in GiB.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    volume_gib: u32,

    /// How often one shard may fail before the job does.
    #[arg(long, value_name = "N", default_value_t = 3)]
    retries: u32,
}

impl Kubernetes {
    pub(super) fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        for (what, path) in [("SUITE", &self.common.suite), ("--run-dir", &self.common.run_dir)] {
            if path.is_absolute() || path.components().any(|part| part.as_str() == "..") {
                let what = format!("`{what}` is `{path}`, which is not below the volume");
                return Err(Failure::say(Exit::Usage, what)
                    .hint("give it relative to this folder, a copy of which is in the volume"));
            }
        }
        let plan = self.common.plan(terminal)?;
        let path = plan.write(terminal, "k8s.yaml", &self.manifests(&plan))?;
        terminal.say(&format!("next:   kubectl apply -f {path}"));
        Ok(Exit::Ok)
    }

    /// The three objects, one document each.
    fn manifests(&self, plan: &Plan<'_>) -> String {
        let documents = [self.claim(plan), self.shards(plan), self.merge(plan)];
        let mut text = String::new();
        for document in documents {
            let document = to_json(&document).expect("objects of our own are plain data");
            text.push_str(&format!("---\n{}", yaml::emit(&document)));
        }
        text
    }

    fn claim(&self, plan: &Plan<'_>) -> serde_json::Value {
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": plan.job_name()},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "resources": {"requests": {"storage": format!("{}Gi", self.volume_gib)}},
            },
        })
    }

    fn shards(&self, plan: &Plan<'_>) -> serde_json::Value {
        let common = plan.common;
        let mut words = vec![
            "run",
            common.suite.as_str(),
            "--run-dir",
            common.run_dir.as_str(),
            "--shard",
            "auto",
            "--resume",
        ];
        words.extend(plan.flags.iter().map(String::as_str));
        serde_json::json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": plan.job_name()},
            "spec": {
                "completionMode": "Indexed",
                "completions": plan.shards,
                "parallelism": common.workers.min(plan.shards),
                "backoffLimitPerIndex": self.retries,
                "maxFailedIndexes": 0,
                // A pod that its node took away is no failure of the shard.
                "podFailurePolicy": {"rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
                ]},
                "template": self.pod(plan, &words, (common.cpus, common.memory_gib)),
            },
        })
    }

    fn merge(&self, plan: &Plan<'_>) -> serde_json::Value {
        let run_dir = plan.common.run_dir.as_str();
        // Kubernetes has no dependent jobs: this one waits until every shard is whole.
        let mut pod = self.pod(plan, &["merge", run_dir, "--overwrite"], (1, 2));
        let shards = plan.shards.to_string();
        let wait = self.container(plan, "wait", &["status", run_dir, "--shards", &shards, "--wait"], (1, 1));
        pod["spec"]["initContainers"] = serde_json::Value::Array(vec![wait]);
        serde_json::json!({
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": format!("{}-merge", plan.job_name())},
            "spec": {"backoffLimit": self.retries, "template": pod},
        })
    }

    fn pod(&self, plan: &Plan<'_>, words: &[&str], size: (u32, u32)) -> serde_json::Value {
        serde_json::json!({
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "enableServiceLinks": false,
                "securityContext": {"runAsNonRoot": true, "runAsUser": 65_532, "fsGroup": 65_532, "seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [self.container(plan, "proofhouse", words, size)],
                "volumes": [
                    {"name": "work", "persistentVolumeClaim": {"claimName": plan.job_name()}},
                    {"name": "tmp", "emptyDir": {"sizeLimit": "4Gi"}},
                ],
            },
        })
    }

    fn container(
        &self,
        plan: &Plan<'_>,
        name: &str,
        words: &[&str],
        (cpus, memory_gib): (u32, u32),
    ) -> serde_json::Value {
        let size = serde_json::json!({"cpu": cpus.to_string(), "memory": format!("{memory_gib}Gi")});
        serde_json::json!({
            "name": name,
            "image": self.image,
            "command": ["proofhouse"],
            "args": words,
            "workingDir": "/work",
            "env": [
                {"name": "PROOFHOUSE_SHARD_COUNT", "value": plan.shards.to_string()},
                {"name": "HOME", "value": "/tmp"},
            ],
            "resources": {"requests": size, "limits": size},
            "securityContext": {
                "readOnlyRootFilesystem": true,
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
            },
            "volumeMounts": [{"name": "work", "mountPath": "/work"}, {"name": "tmp", "mountPath": "/tmp"}],
        })
    }
}
