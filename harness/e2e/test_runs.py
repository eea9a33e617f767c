"""A correct cluster survives, a planted bug is caught, a permitted loss is named as such."""
import json
import os

import pytest

# Canaries: a gate in which one of them is not invalid judges nothing. Mutant, schedule, the rule that it breaks.
CANARIES = [("HW-26", "S4", 36), ("FEN-01", "S3b", 22), ("HW-09", "S18", 58), ("ID-01", "S8", 42)]
EXPERIMENTS = ["commit", "slow-follower-evicted", "follower-dead", "leader-failover", "zombie-leader", "frozen-map",
               "two-down", "rolling-restart", "lost-reply", "isr-addition-in-flight", "isr-addition-late-metadata"]
SEEDS = range(1, 6)
TIME = "25s"  # long enough for two rounds of each schedule


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_a_healthy_cluster_survives_chaos(highwater, seed):
    """Valid, with enough done to mean it, every fault proven, and a complete run folder."""
    run = highwater.run("--seed", seed, "--time", "15s")
    assert run.status == 0, run.err
    verdict, outcome = run.verdict, run.outcome
    assert verdict["verdict"] == "valid" and verdict["anomalies"] == {}
    assert verdict["counts"]["acknowledged"] >= 2500
    assert {fault["kind"] for fault in outcome["faults"] if fault["status"] == "installed"} >= {"kill", "pause"}
    assert outcome["witness"]["compared"] > 0 and outcome["witness"]["disagreements"] == []
    assert outcome["recovery"]["recovered"]
    for name in ("manifest.json", "history.jsonl", "samples.jsonl", "metadata.jsonl", "journal.jsonl", "dumps",
                 "report.html", "junit.xml"):
        assert os.path.exists(os.path.join(run.folders[0], name)), name


@pytest.mark.parametrize("mutant,schedule,rule", CANARIES)
def test_a_canary_is_found(highwater, mutant, schedule, rule):
    """Within five seeds, by a claim that lists the rule; the same seed without it is valid."""
    for seed in SEEDS:
        run = highwater.run("--mutant", mutant, "--schedule", schedule, "--seed", seed, "--time", TIME, "--no-report")
        if run.verdict["anomalies"]:
            break
        assert run.status == 0, f"seed {seed}: {run.err}"
    else:
        pytest.fail(f"{mutant} was not found in {len(SEEDS)} seeds of {schedule}")
    guilty = [claim for claim in run.verdict["claims"] if claim["anomalies"]]
    assert any(rule in claim["rules"] for claim in guilty), [(c["claim"], c["rules"], c["anomalies"]) for c in guilty]
    assert run.last_line().startswith("highwater run ") and f"--seed {seed}" in run.last_line()
    healthy = highwater.run("--schedule", schedule, "--seed", seed, "--time", TIME, "--no-report")
    assert healthy.status == 0, healthy.err


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_named_experiment_has_its_outcome(highwater, experiment):
    """The outcome that contract 0.3 names is asserted by the schedule, and held."""
    run = highwater.run("--schedule", experiment, "--seed", 1, "--no-report")
    assert run.status == 0, run.err
    asserted = run.verdict["assertions"]
    assert asserted and all(one["held"] for one in asserted), asserted


def test_naive_read_shows_a_phantom(highwater):
    """A reader bounded by LEO sees a record that is gone after the leader died (rule 58)."""
    run = highwater.run("--schedule", "naive-read", "--seed", 1, "--no-report")
    assert run.status == 1, run.err
    assert run.verdict["anomalies"].get("phantom-read", 0) > 0
    assert "schedule:" not in run.err, run.err


def test_lost_acks_1_writes_are_found_and_permitted(highwater):
    """S1 under mixed acks: acks=1 losses carry their clause, acks=all loses nothing."""
    permitted = 0
    for seed in SEEDS:
        run = highwater.run("--acks", "mix", "--schedule", "S1", "--seed", seed, "--time", TIME, "--no-report")
        assert run.status == 0, run.err
        assert run.verdict["anomalies"] == {}
        for claim in run.verdict["claims"]:
            for finding in claim["findings"]:
                if finding["anomaly"] == "lost-write" and finding["clause"] == "c.2 acks=1":
                    permitted += 1
        if permitted:
            return
    pytest.fail("five seeds of S1 lost no acks=1 write")


@pytest.mark.parametrize("unclean", (True, False))
def test_a_lone_leader_dies(highwater, unclean):
    """S19, kill form: unclean elections lose acknowledged records by clause c.1.1, without them none is lost."""
    run = highwater.run("--acks", "all", "--schedule", "S19", "--seed", 1, "--time", TIME, "--no-report",
                        "--topic-config", "min.insync.replicas=1",
                        "--topic-config", f"unclean.leader.election.enable={str(unclean).lower()}")
    assert run.status == 0, run.err
    assert run.verdict["anomalies"] == {}
    losses = run.verdict["metrics"].get("permitted-loss", [])
    assert bool(losses) == unclean
    for loss in losses:
        assert loss["clause"] == "c.1.1" and loss["records"] > 0 and loss["bytes"] > 0
        assert loss["acknowledged_from_ns"] <= loss["acknowledged_to_ns"]


def test_what_a_schedule_asserts_is_part_of_the_verdict(highwater, tmp_path):
    """Invalid by its own reason in verdict, JUnit and a later check alike; other promises leave it out."""
    file = tmp_path / "asserts.json"
    file.write_text(json.dumps({
        "format": 1, "name": "asserts", "steps": [
            {"when": "after 500ms", "check": "isr(all-0) == []", "within": "1s", "claim": "nobody is in sync"},
            {"check": "leader_epoch(all-0) >= 0", "within": "5s", "claim": "somebody leads"}],
        "expect": [{"count": "permitted.lost-write", "at_least": 1}]}))
    run = highwater.run("--schedule", file, "--seed", 1, "--time", "3s")
    assert run.status == 1, run.out
    assert [one["held"] for one in run.verdict["assertions"]] == [False, True, False]
    assert run.verdict["anomalies"] == {} and "nobody is in sync, and 1 more" in run.verdict["reason"]
    with open(os.path.join(run.folders[0], "junit.xml")) as junit:
        assert "did not hold: nobody is in sync" in junit.read()
    assert highwater("check", run.folders[0]).status == 1
    assert highwater("check", run.folders[0], "--promise", "acks=1").status == 0


def test_a_setting_is_changed_and_changed_back(highwater, tmp_path):
    """Under load, for a while; one that the broker does not take proves nothing."""
    steps = [{"when": "after 500ms", "do": "config-change", "for": "1s",
              "with": {"of": "all-0", "key": "segment.bytes", "value": value}} for value in ("1048576", "x")]
    schedule = tmp_path / "change.json"
    schedule.write_text(json.dumps({"format": 1, "name": "change", "steps": [steps[0], {"when": "healed"}, steps[1]]}))
    run = highwater.run("--schedule", schedule, "--seed", 1, "--time", "4s", "--no-report")
    assert run.status == 0, run.err
    changed, refused = run.outcome["faults"]
    assert changed["status"] == "installed" and changed["proof"]["before"] != "1048576"
    assert refused["status"] == "indeterminate" and "was refused" in refused["reason"]
    with open(os.path.join(run.folders[0], "metadata.jsonl")) as lines:
        records = [json.loads(line) for line in lines if '"ConfigRecord"' in line]
    values = [record["fields"].get("value") for record in records if record["fields"]["name"] == "segment.bytes"]
    assert values == ["1048576", None]


def test_a_fault_that_never_acts_proves_nothing(highwater, tmp_path):
    """Its condition does not come true: indeterminate, and the run is vacuous."""
    never = {"when": "isr_size(all-0) == 0", "within": "500ms", "do": "kill"}
    schedule = tmp_path / "never.json"
    schedule.write_text(json.dumps({"format": 1, "name": "never", "steps": [never]}))
    run = highwater.run("--schedule", schedule, "--seed", 1, "--time", "2s", "--no-report")
    assert run.status == 3, run.err
    assert {"floor": "fault.kill", "wanted": 1, "got": 0} in run.verdict["coverage"]
    assert [fault["status"] for fault in run.outcome["faults"]] == ["indeterminate"]


def test_the_seed_decides_the_plan(highwater):
    """The same seed gives the same plan, another seed another one."""
    plans = [highwater("run", "--seed", seed, "--plan").out for seed in (7, 7, 8)]
    assert plans[0] == plans[1] != plans[2]
    assert "kill" in plans[0] or "pause" in plans[0] or "cut" in plans[0]


def test_list_names_what_the_folders_hold(highwater):
    """One entry a plug-in file, each with a sentence."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    for what, folder in (("faults", "src/fault"), ("schedules", "src/schedule"), ("claims", "../checker/src/claim"),
                         ("mutants", "../node/core/src/mutant"), ("workloads", "../workloads/src/workload")):
        listed = json.loads(highwater("list", what, "--json").out)
        files = [f[:-3] for f in os.listdir(os.path.join(here, folder)) if f.endswith(".rs") and f not in ("mod.rs", "tests.rs")]
        assert len(listed) >= 1
        names = {row["name"].lower().replace("-", "_") for row in listed}
        missing = {f for f in files if f not in names} if what != "schedules" else set()
        helpers = {"bind", "format", "span"}
        assert missing - helpers == set(), (what, missing)
