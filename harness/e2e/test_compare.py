"""`highwater compare` as far as it can be refused, or measured again: a whole comparison takes minutes."""
import json
import os
import shutil

import pytest


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


def test_a_comparison_that_was_moved_is_measured_again(highwater, tmp_path):
    """Its runs lie beside it, wherever it is; figures and page come from them."""
    made = tmp_path / "made"
    result = highwater("run", "--schedule", "calm", "--workload", "matrix", "--partitions", "1", "--time", "4s",
                       "--rate", "500", "--seed", "1", "--no-report", "--quiet", "--out", str(made / "runs"))
    assert result.status == 0, result.err
    [run] = os.listdir(made / "runs")
    comparison = {
        "format": 1, "target": "node", "command": "highwater compare", "shared": {}, "advice": [],
        "clusters": [{
            "differs": {}, "cells": [], "down": [], "calm": [], "links": [],
            "runs": [{"schedule": "calm", "seed": 1, "folder": f"runs/{run}", "verdict": "valid", "anomalies": {}}],
        }],
    }
    (made / "compare.json").write_text(json.dumps(comparison))
    moved = tmp_path / "moved"
    shutil.move(made, moved)
    result = highwater("compare", "--again", str(moved), "--json")
    assert result.status == 0, result.err
    [cluster] = json.loads(result.out)["clusters"]
    cells = {(cell["acks"], cell["flushed"]): cell for cell in cluster["calm"]}
    assert set(cells) == {(acks, flushed) for acks in ("0", "1", "all") for flushed in (False, True)}
    assert all(cell["offered_per_s"] == 500 and cell["sends"] > 50 for cell in cells.values())
    assert cluster["links"][0]["bytes_per_byte"] > 2, "two followers"
    assert "Costs without faults" in (moved / "compare.html").read_text()
