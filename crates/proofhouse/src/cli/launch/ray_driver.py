"""Runs a suite in shards on a Ray cluster and merges them. Written by `proofhouse launch ray`; change what you like.

No shared file system is needed: the suite's folder and the program travel through Ray's object store, and so does what a
shard recorded, whole or not. A shard whose node went away is started again; one that was stopped goes on where it was. Shards
come to stand beside the run directory: `proofhouse status` tells of them, and this driver, started again, goes on from them.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import ray

SETTINGS = json.loads(r'''{SETTINGS}''')


def packed(folder, names, away=()):
    """The files and folders of these names below a folder, as bytes; without those whose path begins with one of `away`."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for name in names:
            wanted = lambda each: None if each.name.startswith(away) else each
            archive.add(os.path.join(folder, name), arcname=name, filter=wanted)
    return buffer.getvalue()


def unpacked(data, folder):
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        archive.extractall(folder, filter="data")


def name_of(settings, shard):
    return f"{settings['name']}.shard-{shard:04d}-of-{settings['shards']:04d}"


def belonging(settings, folder, shard):
    """Everything that a shard left: its directory and what stands beside it under its name."""
    name = name_of(settings, shard)
    found = [each for each in sorted(os.listdir(folder)) if each == name or each.startswith(name + ".")]
    return [each for each in found if not each.endswith(".lock")]


def replace(settings, home, shard, data):
    """Puts what a shard recorded in the place of what it had before."""
    for name in belonging(settings, home, shard):
        path = os.path.join(home, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    unpacked(data, home)


def run_shard(settings, shard, program, suite, earlier):
    """One shard, in a folder of its own. Gives the exit code, the last lines of what was said, and what was recorded."""
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "proofhouse")
        with open(binary, "wb") as file:
            file.write(program)
        os.chmod(binary, 0o700)
        unpacked(suite, os.path.join(folder, "suite"))
        runs = os.path.join(folder, "runs")
        os.mkdir(runs)
        if earlier:
            unpacked(earlier, runs)
        words = [binary, "run", os.path.join(folder, "suite", settings["suite"])]
        words += ["--run-dir", os.path.join(runs, settings["name"])]
        words += ["--shard", f"{shard}/{settings['shards']}", "--resume", *settings["flags"]]
        done = subprocess.run(words, cwd=os.path.join(folder, "suite"), capture_output=True, text=True)
        return done.returncode, done.stderr[-2000:], packed(runs, belonging(settings, runs, shard))


def is_whole(settings, home, shard):
    """Whether a shard that is here ended as it should; `merge` verifies what it says."""
    try:
        with open(os.path.join(home, name_of(settings, shard) + ".run.json"), encoding="utf-8") as file:
            return json.load(file)["exit_status"] == "normal"
    except OSError:
        return False


def main():
    home, name = os.path.split(SETTINGS["run_dir"])
    os.makedirs(home, exist_ok=True)
    settings = {"name": name, **{key: SETTINGS[key] for key in ("suite", "shards", "flags")}}
    shards = range(SETTINGS["shards"])
    waiting = [shard for shard in shards if not is_whole(settings, home, shard)]
    earlier = {shard: packed(home, found) for shard in waiting if (found := belonging(settings, home, shard))}
    tries = dict.fromkeys(waiting, 0)
    running = {}
    if waiting:
        ray.init(address=SETTINGS["address"], log_to_driver=False)
        task = ray.remote(
            num_cpus=SETTINGS["cpus"], memory=SETTINGS["memory_gib"] << 30, max_retries=SETTINGS["retries"]
        )(run_shard)
        with open(SETTINGS["program"], "rb") as file:
            program = ray.put(file.read())
        # Neither this run nor a repository's history is of the suite.
        folder = SETTINGS["folder"]
        run = os.path.relpath(SETTINGS["run_dir"], folder)
        suite = ray.put(packed(folder, sorted(os.listdir(folder)), (".git", run + "/", run + ".shard-")))
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
        if data:
            replace(settings, home, shard, data)
        if code == 0:
            print(f"shard {shard}: complete", file=sys.stderr, flush=True)
        elif tries[shard] <= SETTINGS["retries"]:
            print(f"shard {shard}: tried again ({code})", file=sys.stderr, flush=True)
            earlier[shard] = packed(home, belonging(settings, home, shard))
            waiting.append(shard)
        else:
            sys.exit(f"shard {shard} failed {tries[shard]} times, the last time with {code}:\n{said}")
    merged = subprocess.run([SETTINGS["program"], "merge", SETTINGS["run_dir"], "--overwrite"])
    # 4 and 9 are verdicts of a complete run.
    sys.exit(0 if merged.returncode in (0, 4, 9) else merged.returncode)


if __name__ == "__main__":
    main()
