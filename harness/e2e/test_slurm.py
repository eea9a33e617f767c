"""checker/scale/slurm: a job array on a real Slurm of this machine alone, with a task that is killed."""
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from scale import CHECK, SCALE, check, write_history

SLURM = os.path.join(SCALE, "slurm")
CLUSTER = os.path.join(SLURM, "cluster.py")
PARTS = 8

pytestmark = pytest.mark.skipif(
    any(shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None
        for name in ("slurmctld", "slurmd", "sbatch", "munged")),
    reason="no Slurm: .ci/setup slurm installs slurmctld, slurmd, slurm-client and munge")

# The first try of one task is killed when it has read half of the history.
KILLED_ONCE = """#!/usr/bin/env bash
if [ "${SLURM_ARRAY_TASK_ID:-}" = 3 ] && [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then
    mkfifo half
    exec 3<>half
    head -n 4001 "$1" >half 3>&- &
    CHECK - "${@:2}" <half &
    sleep 1
    kill -KILL $!
    wait $!
    exit
fi
"""

# One task cannot do what it should.
BROKEN = """#!/usr/bin/env bash
[ "${SLURM_ARRAY_TASK_ID:-}" != 5 ] || { echo "no such disk" >&2; exit 64; }
"""


def program(file, text):
    """A program in the place of `highwater-check`, which it becomes unless it ends before."""
    file.write_text(text.replace("CHECK", CHECK) + f'exec {CHECK} "$@"\n')
    file.chmod(0o755)
    return file


def submit(place, check_program):
    """Judges the history of a folder in a cluster of its own."""
    done = subprocess.run(
        [sys.executable, CLUSTER, place / "slurm", os.path.join(SLURM, "submit"), str(PARTS), "history.jsonl", "out"],
        capture_output=True, text=True, timeout=240, cwd=place, env=dict(os.environ, HIGHWATER_CHECK=str(check_program)))
    assert daemons_of(place) == [], "the cluster is gone with its command"
    return done


def daemons_of(place):
    """Processes whose command line or configuration names the folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line, open(f"/proc/{pid}/environ", "rb") as env:
                told = line.read() + env.read()
        except OSError:
            continue
        if int(pid) != os.getpid() and f"{place}/slurm/".encode() in told:
            found.append((int(pid), told.split(b"\0")[0]))
    return found


def said(place, part):
    """What the task of a part said, all its tries."""
    return (place / "out" / f"part-{part}.out").read_text()


def test_a_killed_task_is_resumed_and_the_verdict_is_that_of_one_process(tmp_path):
    write_history(tmp_path / "history.jsonl")
    done = submit(tmp_path, program(tmp_path / "killed-once", KILLED_ONCE))
    one = check("history.jsonl", "--json", cwd=tmp_path)
    assert one.returncode == 1 and b'"lost-write":1' in one.stdout
    assert done.returncode == one.returncode, done.stderr
    assert (tmp_path / "out" / "verdict.json").read_bytes() == one.stdout
    assert done.stdout == check("history.jsonl", cwd=tmp_path, text=True).stdout
    assert "part 3/8: ended by signal 9, goes back to the queue" in said(tmp_path, 3)
    assert said(tmp_path, 3).endswith("part-3.json.zst\n"), "the second try came to its end"
    assert all("queue" not in said(tmp_path, part) for part in range(PARTS) if part != 3)


def test_what_failed_is_told_and_judged_alone_when_called_again(tmp_path):
    write_history(tmp_path / "history.jsonl")
    failed = submit(tmp_path, program(tmp_path / "broken", BROKEN))
    assert failed.returncode == 70, failed.stderr
    assert "submit: no verdict" in failed.stderr and "no such disk" in failed.stderr
    done = submit(tmp_path, CHECK)
    assert done.returncode == 1, done.stderr
    assert "is there already" in said(tmp_path, 0) and "is there already" not in said(tmp_path, 5)


def test_the_cluster_ends_when_it_is_killed(tmp_path):
    with subprocess.Popen([sys.executable, CLUSTER, tmp_path / "slurm", "sleep", "60"]) as cluster:
        until(lambda: any(name.endswith(b"slurmd") for _, name in daemons_of(tmp_path)))
        cluster.kill()
    for pid, name in daemons_of(tmp_path):
        if name == b"sleep":
            os.kill(pid, signal.SIGKILL)
    until(lambda: daemons_of(tmp_path) == [])


def until(ready):
    """Wait for something that is a matter of seconds."""
    deadline = time.monotonic() + 30
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.1)
