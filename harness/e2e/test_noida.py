"""A target of one broker that gives no dumps: its loss on kill -9 is found by what its clients saw."""
import json
import os


def target_of(run):
    """What the manifest says of the target."""
    with open(os.path.join(run.folders[0], "manifest.json")) as text:
        return json.load(text)["target"]


def test_a_kill_costs_noida_db_what_it_acknowledged(highwater):
    """c.4, RF 1: nothing permits a loss after a kill, so it is invalid, by the final read alone."""
    run = highwater.run("--target", "noida-db", "--schedule", "node-killed", "--seed", 1)
    assert run.status == 1, run.out + run.err
    assert run.verdict["anomalies"]["lost-write"] > 0 and "lost-write" not in run.verdict["permitted"]
    assert run.outcome["recovery"]["recovered"], run.outcome["recovery"]
    assert all(fault["status"] == "installed" for fault in run.outcome["faults"]), run.outcome["faults"]
    target = target_of(run)
    assert (target["name"], target["version"], target["without"]) == ("noida-db", "0.2.3", ["dumps", "metadata"])
    assert "witness" not in run.outcome
    assert highwater("check", run.folders[0]).status == 1


def test_the_node_keeps_under_the_same_schedule_what_it_acknowledged(highwater):
    """One replica, no flush: the page cache survives a kill."""
    run = highwater.run("--schedule", "node-killed", "--seed", 1, "--no-report")
    assert run.status == 0, run.out + run.err
    assert run.verdict["counts"]["acknowledged"] > 1000


def test_noida_db_left_alone_is_valid(highwater):
    """Claims that look for dumps are judged as far as the final read goes, and the verdict says so."""
    run = highwater.run("--target", "noida-db", "--schedule", "calm", "--seed", 1, "--time", "5s", "--no-report")
    assert run.status == 0, run.out + run.err
    notes = "\n".join(run.verdict["notes"])
    assert "the target gives no dumps" in notes and "divergence" in notes


def test_a_missing_noida_db_is_said_in_one_sentence(highwater):
    """What, where and how to get it, with status 70; there is no folder."""
    run = highwater.run("--target", "noida-db", "--schedule", "calm", "--seed", 1,
                        env={"HIGHWATER_NOIDA_DB": "/no/such/binary"})
    assert run.status == 70 and run.folders == []
    assert "binary `noida-db` not found: HIGHWATER_NOIDA_DB is /no/such/binary" in run.err


def test_what_noida_db_cannot_run_is_listed_with_its_reason(highwater):
    """Each schedule, before any run."""
    listed = json.loads(highwater("list", "schedules", "--target", "noida-db", "--json").out)
    cannot = {row["name"]: row.get("cannot") for row in listed}
    assert cannot["node-killed"] is None and cannot["calm"] is None and cannot["default"] is None
    assert "do not go through proxies" in cannot["s1"] and "takes no properties" in cannot["commit"]
    assert all(why is None or "\n" not in why for why in cannot.values())
