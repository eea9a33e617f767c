"""Faults of the disk on real nodes: what was synced survives a power loss, and runs without them pay nothing."""
import json
import os

SHIM = "libhighwater_shim.so"


def schedule(tmp_path, *steps, **settings):
    """A schedule file."""
    file = tmp_path / "disk.json"
    file.write_text(json.dumps({"format": 1, "name": "disk", "settings": settings, "steps": steps}))
    return file


def told(run, name):
    """The nemesis events of this name."""
    with open(os.path.join(run.folders[0], "history.jsonl")) as lines:
        events = map(json.loads, lines)
        return [event["value"] for event in events if event["process"] == "nemesis" and event["f"] == name]


def cut(event, node):
    """The bytes that a node lost of the run's partitions."""
    return sum(lost["bytes"] for lost in event["cut"][str(node)].values())


def test_a_follower_that_loses_its_power_comes_back(highwater, tmp_path):
    """It loses what it had not synced, fetches it again, and nothing acknowledged is lost."""
    loss = {"when": "after 2s", "do": "power-loss", "with": {"aim": "follower", "survives": "nothing"}, "for": "1s"}
    run = highwater.run("--schedule", schedule(tmp_path, loss), "--seed", 1, "--time", "6s", "--no-report")
    assert run.status == 0, run.err
    [event] = told(run, "power-loss")
    [node] = event["nodes"]
    assert cut(event, node) > 0, event
    [fault] = run.outcome["faults"]
    assert fault["status"] == "installed" and fault["proof"]["cut"] == event["cut"]
    assert os.path.getsize(os.path.join(run.folders[0], "nodes", str(node), "disk", "journal")) > 0


def test_what_every_replica_synced_survives_the_power_of_all(highwater, tmp_path):
    """flush.messages=1: the whole cluster goes dark at one instant, and every acknowledged record is there."""
    dark = {"when": "after 2s", "do": "power-loss", "with": {"aim": "all", "survives": "nothing"}, "for": "500ms"}
    file = schedule(tmp_path, dark, topic={"flush.messages": "1"}, options={"rate": "100"})
    run = highwater.run("--schedule", file, "--seed", 1, "--time", "8s", "--no-report")
    assert run.status == 0, run.err
    assert run.verdict["anomalies"] == {} and run.verdict["counts"]["acknowledged"] > 100
    [event] = told(run, "power-loss")
    assert event["nodes"] == [1, 2, 3] and set(event["exits"].values()) == {"signal 9"}


def test_a_disk_that_is_slow_or_fails_or_is_new(highwater, tmp_path):
    """Each acts, is proved, and is healed; a node that ends of a refused write is started again."""
    steps = [{"when": "after 1s", "do": "slow-disk", "with": {"aim": "follower", "write_ms": 20}, "for": "1s"},
             {"when": "healed and after 3s", "do": "disk-error", "with": {"aim": "follower"}, "for": "2s"},
             {"when": "healed and after 5s", "do": "wipe", "with": {"aim": "follower"}, "for": "1s"}]
    run = highwater.run("--schedule", schedule(tmp_path, *steps), "--seed", 1, "--time", "16s", "--no-report")
    assert run.status == 0, run.err
    proofs = {fault["kind"]: fault.get("proof") for fault in run.outcome["faults"] if fault["status"] == "installed"}
    assert set(proofs) == {"slow-disk", "disk-error", "wipe"}, run.outcome["faults"]
    [event] = told(run, "wipe")
    assert cut(event, event["nodes"][0]) > 0


def test_only_a_run_that_needs_it_has_the_library(highwater, tmp_path):
    """A missing one refuses the run before there is a folder, and is of no concern to others."""
    env = {"HIGHWATER_SHIM": "/no/such/library"}
    without = highwater.run("--schedule", "leader-failover", "--seed", 1, "--time", "2s", "--no-report", env=env)
    assert without.folders and not os.path.exists(os.path.join(without.folders[0], "nodes", "1", "disk"))
    storm = {"do": "storm", "with": {"of": [{"fault": "slow-disk", "with": {"fsync_ms": 5}}]}}
    file = schedule(tmp_path, storm)
    run = highwater.run("--schedule", file, "--seed", 1, "--time", "2s", env=env)
    for refused in (run, highwater("run", "--schedule", file, "--plan", env=env)):
        assert refused.status == 70, refused.err
        assert f"preload library `{SHIM}` not found" in refused.err
        assert "HIGHWATER_SHIM is /no/such/library, and there is no such file" in refused.err
    assert run.folders == []
