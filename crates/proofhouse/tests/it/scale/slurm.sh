#!/bin/sh
#SBATCH --job-name=proofhouse-sums
#SBATCH --output="/work/out/parts.slurm-%a.log"
#SBATCH --open-mode=append
#SBATCH --partition=cpu
#SBATCH --array=0-99%20
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --requeue

# One shard of the plan. `--resume` goes on with what an earlier try of this task has recorded.
cd /work
trap : TERM
/usr/bin/proofhouse run /work/s/code.yaml --run-dir /work/out/parts --resume --no-cache --shards-at-once 20 --shard "$SLURM_ARRAY_TASK_ID/100"
code=$?
# Killed, perhaps for want of memory: the task goes back into the queue and goes on where it was, three times at most.
if [ $code -gt 128 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
    scontrol requeue "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
fi
exit $code
#!/bin/sh
#SBATCH --job-name=proofhouse-sums-merge
#SBATCH --output="/work/out/parts.slurm-merge.log"
#SBATCH --open-mode=append
#SBATCH --partition=cpu
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G

# All shards are there: one run of them, as if one machine had run the whole plan. 4 and 9 are verdicts of a complete run.
/usr/bin/proofhouse merge /work/out/parts --overwrite
code=$?
case $code in 4 | 9) exit 0 ;; *) exit $code ;; esac
