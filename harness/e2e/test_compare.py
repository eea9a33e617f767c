"""`highwater compare` as far as it can be refused, or measured again: a whole comparison takes minutes."""
import glob
import json
import os
import shutil
import signal
import subprocess
import time

import pytest
from conftest import BIN, Highwater


def test_what_is_refused_leaves_no_folder_and_names_no_seed(highwater):
    """Exit status 64, the sentence alone, nothing on the disk."""
    out = highwater.out()
    result = highwater("compare", "--target", "none-such", "--out", out)
    assert result.status == 64, result.err
    assert result.last_line().startswith("highwater: unknown target `none-such`"), result.err
    assert not os.path.exists(out)


@pytest.mark.parametrize("words, sentence", [
    (["--vary", "replica.lag.time.max.ms=500"], "--vary replica.lag.time.max.ms=500: write NAME=VALUE,VALUE"),
    (["--replication-factor", "5"], "--replication-factor 5: write 1, 2 or 3"),
    (["--vary", "replica.lag.time.max.ms=500,500"], "500 stands twice"),
    (["--vary", "min.insync.replicas=1,2"], "--vary min.insync.replicas: every topic of the comparison has its own"),
    (["--set", "replica.lag.time.max.ms=500", "--vary", "replica.lag.time.max.ms=500,900"], "fixes it"),
    (["--vary-feature", "eligible.leader.replicas.version=0,1"],
     "feature eligible.leader.replicas.version=1: target node has no feature levels"),
    (["--again", "no-such-folder"], "--again no-such-folder: there is no compare.json"),
])
def test_axes_are_refused_in_a_sentence(highwater, words, sentence):
    """Exit status 64, what is wrong and what to do."""
    out = [] if "--again" in words else ["--out", highwater.out()]
    result = highwater("compare", "--seeds", "1..1", *words, *out) if out else highwater("compare", *words)
    assert result.status == 64, result.err
    assert sentence in result.err


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """A comparison of one run without faults."""
    base = tmp_path_factory.mktemp("comparison")
    made = base / "made"
    result = Highwater(str(base))(
        "run", "--schedule", "calm", "--workload", "matrix", "--partitions", "1", "--time", "4s", "--rate", "500",
        "--seed", "1", "--no-report", "--quiet", "--out", str(made / "runs"))
    assert result.status == 0, result.err
    [run] = os.listdir(made / "runs")
    written = {
        "format": 1, "target": "node", "command": "highwater compare", "shared": {}, "advice": [],
        "clusters": [{
            "differs": {}, "cells": [], "down": [], "calm": [], "links": [],
            "runs": [{"schedule": "calm", "seed": 1, "folder": f"runs/{run}", "verdict": "valid", "anomalies": {}}],
        }],
    }
    (made / "compare.json").write_text(json.dumps(written))
    return made


def test_a_comparison_that_was_moved_is_measured_again(highwater, comparison, tmp_path):
    """Its runs lie beside it, wherever it is; figures and page come from them."""
    moved = tmp_path / "moved"
    shutil.copytree(comparison, moved)
    result = highwater("compare", "--again", str(moved), "--json")
    assert result.status == 0, result.err
    [cluster] = json.loads(result.out)["clusters"]
    cells = {(cell["acks"], cell["flushed"]): cell for cell in cluster["calm"]}
    assert set(cells) == {(acks, flushed) for acks in ("0", "1", "all") for flushed in (False, True)}
    assert all(cell["offered_per_s"] == 500 and cell["sends"] > 50 for cell in cells.values())
    assert cluster["links"][0]["bytes_per_byte"] > 2, "two followers"
    assert "Costs without faults" in (moved / "compare.html").read_text()
    assert sorted(os.listdir(moved)) == ["compare.html", "compare.json", "runs"]


def cut(file):
    """Cuts a file of lines at the end of a line in its middle."""
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:len(lines) // 2]))


@pytest.mark.parametrize("lost, why", [
    (lambda run: shutil.rmtree(run / "dumps"), "evidence is incomplete: no final dump"),
    (lambda run: (run / "outcome.json").unlink(), "there is no outcome.json"),
    (lambda run: (run / "metadata.jsonl").unlink(), "evidence is incomplete: metadata.jsonl"),
    (lambda run: (run / "manifest.json").unlink(), "there is no manifest.json"),
    (lambda run: cut(run / "history.jsonl"), "the history is cut"),
    (lambda run: (run / "history.jsonl").unlink(), "no history.jsonl in this folder"),
    (shutil.rmtree, "No such file"),
], ids=["dumps", "outcome", "metadata", "manifest", "history-cut", "history", "folder"])
def test_a_run_that_lost_something_is_listed_and_counts_nowhere(highwater, comparison, tmp_path, lost, why):
    """What is missing would count as not lost: exit status 2, no figure, the run with its reason."""
    copy = tmp_path / "copy"
    shutil.copytree(comparison, copy)
    [run] = (copy / "runs").iterdir()
    lost(run)
    result = highwater("compare", "--again", str(copy), "--json")
    assert result.status == 2, result.err
    [cluster] = json.loads(result.out)["clusters"]
    assert cluster["calm"] == [] and cluster["links"] == []
    [listed] = cluster["runs"]
    assert listed["verdict"] == "unknown" and why in listed["left_out"], listed
    assert f"runs/{run.name}: unknown, not in the figures: " in result.err
    assert "1 not in the figures" in (copy / "compare.html").read_text()


def test_a_cell_whose_log_nobody_knows_counts_nowhere(highwater, comparison, tmp_path):
    """Of a partition that did not recover nobody can say what it lost; the other cells count."""
    copy = tmp_path / "copy"
    shutil.copytree(comparison, copy)
    written = json.loads((copy / "compare.json").read_text())
    # The same run as one with faults: of none, here.
    written["clusters"][0]["runs"][0]["schedule"] = "compare"
    (copy / "compare.json").write_text(json.dumps(written))
    [run] = (copy / "runs").iterdir()
    outcome = json.loads((run / "outcome.json").read_text())
    key = next(key for key in outcome["partitions"] if "all_min2_clean_cached" in key)
    outcome["recovery"]["recovered"] = False
    outcome["recovery"]["missing"] = [{"key": key, "condition": "leader", "seen": "it has none"}]
    (run / "outcome.json").write_text(json.dumps(outcome))
    result = highwater("compare", "--again", str(copy), "--json")
    assert result.status == 1, result.err
    [cluster] = json.loads(result.out)["clusters"]
    assert list(cluster["runs"][0]["anomalies"]) == ["not-recovered"]
    assert len(cluster["cells"]) == 35
    assert not any(cell["acks"] == "all" and cell["min_isr"] == 2 and not cell["unclean"] and not cell["flushed"]
                   for cell in cluster["cells"])


def test_an_interrupted_comparison_keeps_its_finished_runs(highwater):
    """After each run page and JSON are there; the exit status of an interrupt is 130."""
    out = highwater.out()
    process = subprocess.Popen([BIN, "compare", "--quick", "--seeds", "1..2", "--out", out], text=True,
                               stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 200
    while not glob.glob(os.path.join(out, "compare-*", "compare.json")) and time.monotonic() < deadline:
        time.sleep(0.2)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    [folder] = glob.glob(os.path.join(out, "compare-*"))
    assert f"comparison so far, 1 of 5 runs: {folder}/compare.html" in err
    again = highwater("compare", "--again", folder, "--json")
    assert again.status == 0, again.err
    comparison = json.loads(again.out)
    assert comparison["planned"] == 5
    [cluster] = comparison["clusters"]
    assert len(cluster["runs"]) == 1 and len(cluster["cells"]) == 36
    with open(os.path.join(folder, "compare.html")) as page:
        assert "1 run of 5" in page.read()
