"""Runs a suite in shards on a Ray cluster and merges them. Written by `proofhouse launch ray`; change what you like.

No shared file system is needed: the suite's folder and the program travel through Ray's object store, and so does what a
shard recorded, whole or not. A shard whose node went away is started again; one that was stopped goes on where it was.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import ray

SETTINGS = json.loads(r'''{SETTINGS}''')


def packed(folder, names):
    """The files and folders of these names below a folder, as bytes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for name in names:
            archive.add(os.path.join(folder, name), arcname=name)
    return buffer.getvalue()


def unpacked(data, folder):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


def name_of(shard):
    return f"run.shard-{shard:04d}-of-{SETTINGS['shards']:04d}"


def belonging(folder, shard):
    """Everything that a shard left: its directory and what stands beside it."""
    return [name for name in sorted(os.listdir(folder)) if name.startswith(name_of(shard)) and not name.endswith(".lock")]


def run_shard(settings, shard, program, suite, earlier):
    """One shard, in a folder of its own. Gives the exit code, the last lines of what was said, and what was recorded."""
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "proofhouse")
        with open(binary, "wb") as file:
            file.write(program)
        os.chmod(binary, 0o700)
        unpacked(suite, os.path.join(folder, "suite"))
        if earlier:
            unpacked(earlier, folder)
        words = [binary, "run", os.path.join(folder, "suite", settings["suite"]), "--run-dir", os.path.join(folder, "run")]
        words += ["--shard", f"{shard}/{settings['shards']}", "--resume", *settings["flags"]]
        done = subprocess.run(words, cwd=os.path.join(folder, "suite"), capture_output=True, text=True)
        return done.returncode, done.stderr[-2000:], packed(folder, belonging(folder, shard))


def main():
    ray.init(address=SETTINGS["address"], log_to_driver=False)
    task = ray.remote(
        num_cpus=SETTINGS["cpus"], memory=SETTINGS["memory_gib"] << 30, max_retries=SETTINGS["retries"]
    )(run_shard)
    with open(SETTINGS["program"], "rb") as file:
        program = ray.put(file.read())
    folder = SETTINGS["folder"]
    suite = ray.put(packed(folder, sorted(os.listdir(folder))))
    settings = {key: SETTINGS[key] for key in ("suite", "shards", "flags")}

    waiting = list(range(SETTINGS["shards"]))
    tries = dict.fromkeys(waiting, 0)
    running, earlier = {}, {}
    with tempfile.TemporaryDirectory() as home:
        while waiting or running:
            while waiting and len(running) < SETTINGS["workers"]:
                shard = waiting.pop(0)
                running[task.remote(settings, shard, program, suite, earlier.pop(shard, None))] = shard
            (ready,), _ = ray.wait(list(running), num_returns=1)
            shard = running.pop(ready)
            tries[shard] += 1
            try:
                code, said, data = ray.get(ready)
            except ray.exceptions.RayError as error:
                code, said, data = None, str(error), None
            if code == 0:
                unpacked(data, home)
                print(f"shard {shard}: whole", file=sys.stderr, flush=True)
            elif tries[shard] <= SETTINGS["retries"]:
                print(f"shard {shard}: tried again ({code})", file=sys.stderr, flush=True)
                earlier[shard] = data
                waiting.append(shard)
            else:
                sys.exit(f"shard {shard} failed {tries[shard]} times, the last time with {code}:\n{said}")
        shards = [os.path.join(home, name_of(shard)) for shard in range(SETTINGS["shards"])]
        merged = subprocess.run([SETTINGS["program"], "merge", SETTINGS["run_dir"], *shards, "--overwrite"])
    # 4 and 9 are verdicts of a whole run.
    sys.exit(0 if merged.returncode in (0, 4, 9) else merged.returncode)


if __name__ == "__main__":
    main()
