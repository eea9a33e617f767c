"""What is wrong is said before anything of a run is there, by the plan as by the run."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import BIN

PORTS = re.compile(r":\d{4,5}\b")


@pytest.mark.parametrize("args,words", [
    (("--mutant", "NOPE"), "there is no mutant NOPE"),
    (("--set", "num.partitions=x"), 'num.partitions is "x"'),
    (("--set", "2:num.partitions=x"), 'num.partitions is "x"'),
    (("--set", "9:num.partitions=1"), "no node 9"),
    (("--controllers", "3"), "no elections between controllers yet"),
    (("--topic-config", "min.insync.replicas=x"), 'min.insync.replicas is "x"'),
    (("--topic-config", "foo=bar"), "no property foo"),
    (("--topic", "all:foo=bar"), "topic all: "),
    (("--nodes", "-1"), "write a whole number"),
    (("--seed", "-1"), "write a whole number"),
])
def test_the_plan_refuses_what_the_run_refuses(highwater, args, words):
    """64 and the same sentence, and no run folder."""
    plan = highwater("run", "--seed", 1, "--plan", *args) if args[0] != "--seed" else highwater("run", "--plan", *args)
    seed = () if args[0] == "--seed" else ("--seed", 1)
    run = highwater.run(*seed, "--time", "1s", *args)
    assert plan.status == run.status == 64, plan.err + run.err
    assert words in run.err
    assert PORTS.sub("", plan.err) == PORTS.sub("", run.err)
    assert plan.out == "" and run.folders == []


def test_a_missing_binary_is_named_with_its_variable(highwater):
    """By plan and run, before there is a folder."""
    env = {"HIGHWATER_NODE_BIN": "/no/such/binary"}
    run = highwater.run("--seed", 1, "--time", "1s", env=env)
    for result in (highwater("run", "--plan", env=env), run):
        assert result.status == 70
        assert "HIGHWATER_NODE_BIN is /no/such/binary, and there is no such file\n" in result.err
    assert run.folders == []


def test_a_schedule_that_cannot_be_is_refused_before_the_run(highwater, tmp_path):
    """64 with file, line and field, and no run folder."""
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"format": 1, "name": "x", "steps": [
        {"do": "kill", "with": {"aim": {"nodes": [77]}}}]}, indent=1))
    run = highwater.run("--schedule", file, "--time", "1s")
    assert run.status == 64
    assert "s.json: line 9: field `steps[0].with.aim.nodes`: no node 77 in this run" in run.err
    assert run.folders == []


@pytest.mark.parametrize("args", (("list",), ("run", "--plan"), ("doctor",), ("--help",), ("list", "--json")))
def test_output_that_is_lost_is_no_success(highwater, args):
    """A full disk is 70 and one sentence; a reader that has gone is neither."""
    with open("/dev/full", "w") as full:
        done = subprocess.run([BIN, *args], stdout=full, stderr=subprocess.PIPE, text=True, cwd=highwater.base)
    assert done.returncode == 70
    assert done.stderr == "highwater: cannot write standard output: No space left on device (os error 28)\n"
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([BIN, *args], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=highwater.base)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become nobody")
def test_a_read_only_folder_with_nothing_to_heal(highwater):
    """0: nothing needs to be written."""
    base = tempfile.mkdtemp(dir="/tmp")
    try:
        folder = os.path.join(base, "run")
        os.mkdir(folder)
        with open(os.path.join(folder, "journal.jsonl"), "w") as journal:
            journal.write('{"format":1,"kind":"journal"}\n')
        program = shutil.copy(BIN, base)
        for path in (base, folder, program):
            os.chmod(path, 0o555)
        done = subprocess.run([program, "heal", folder], capture_output=True, text=True, user=65534, group=65534)
        assert (done.returncode, done.stdout) == (0, "nothing to heal\n"), done.stderr
    finally:
        shutil.rmtree(base)


def test_a_property_without_effect_is_said_once(highwater):
    """As a warning; the run goes on."""
    run = highwater.run("--seed", 1, "--time", "1s", "--no-report", "--set", "foo=bar")
    said = [line for line in run.err.splitlines() if "foo" in line and "warning" in line]
    assert said == ["highwater: warning: nodes 1, 2, 3, 101: these properties have no effect here: foo"]
    assert glob.glob(os.path.join(run.folders[0], "verdict.json"))


def test_an_out_folder_that_is_no_text_is_refused(highwater):
    """64 and one sentence."""
    done = subprocess.run([BIN, "run", "--time", "1s", "--out", b"o\xff"], capture_output=True, cwd=highwater.base)
    assert done.returncode == 64 and b"no UTF-8 text" in done.stderr and b"panicked" not in done.stderr
    assert os.listdir(highwater.base) == []
