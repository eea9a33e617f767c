"""Apache Kafka as target: the same schedules, judged by the same claims, which must be silent on it."""
import json
import os

import pytest


@pytest.fixture
def no_java(tmp_path):
    """A PATH on which there is neither Java nor Maven."""
    return {"PATH": str(tmp_path), "JAVA_HOME": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}


def samples(run, kind):
    """The samples of this kind."""
    with open(os.path.join(run.folders[0], "samples.jsonl")) as lines:
        parsed = [json.loads(line) for line in lines]
    return [sample for sample in parsed if sample.get("kind") == kind]


def test_chaos_on_kafka_is_valid(highwater):
    """A kill, a pause and a partition, each proven; no claim cries wolf."""
    run = highwater.run("--target", "kafka", "--seed", 1, "--time", "12s")
    assert run.status == 0, run.out + run.err
    with open(os.path.join(run.folders[0], "manifest.json")) as text:
        target = json.load(text)["target"]
    assert target["name"] == "kafka" and target["version"].startswith("4."), target
    assert run.verdict["counts"]["acknowledged"] > 500
    assert all(fault["status"] == "installed" for fault in run.outcome["faults"]), run.outcome["faults"]
    assert run.outcome["witness"]["disagreements"] == []
    assert len(samples(run, "replica")) > 100


def test_a_cut_from_the_controller_after_a_heal_fences_a_kafka_broker(highwater, tmp_path):
    """Controllers dial and are dialled by what they advertise: without its proxy the second cut would not act."""
    steps = [{"when": "after 1s", "do": "isolate", "for": "3s", "with": {"aim": {"nodes": [2]}}},
             {"when": "healed and full", "within": "30s"},
             {"when": "after 1s", "let": {"e": "leader_epoch(all-0)"}, "do": "isolate",
              "with": {"aim": {"nodes": [1]}, "from": ["controllers"]}, "until": "1 not in isr(all-0)"},
             {"check": "1 not in isr(all-0) and leader_epoch(all-0) > $e", "within": "10s",
              "claim": "cut from the controller alone the leader is fenced"}]
    file = tmp_path / "fence.json"
    file.write_text(json.dumps({"format": 1, "name": "fence", "settings": {"assignment": [1, 2, 3]}, "steps": steps}))
    run = highwater.run("--target", "kafka", "--schedule", file, "--seed", 1, "--no-report")
    assert run.status == 0, run.out + run.err
    assert [assertion["held"] for assertion in run.verdict["assertions"]] == [True]


def test_the_forgotten_isr_addition_of_kafka_is_found(highwater):
    """docs/track-record.md: records that were acknowledged by the ISR are lost, with clean elections (rule 16)."""
    run = highwater.run("--target", "kafka", "--schedule", "isr-addition-late-metadata", "--seed", 1, "--no-report")
    assert run.status == 1, run.out + run.err
    lost = [claim for claim in run.verdict["claims"] if claim["anomalies"].get("lost-write")]
    assert lost and any(16 in claim["rules"] for claim in lost), run.verdict["anomalies"]
    assert run.verdict["anomalies"]["isr-illegal"] and run.verdict["anomalies"]["early-ack"]
    before_the_kill = run.verdict["assertions"][:3]
    assert all(one["held"] for one in before_the_kill), before_the_kill


def test_power_loss_of_a_kafka_follower_costs_nothing(highwater, tmp_path):
    """The preloaded library journals a JVM's files, too."""
    loss = {"when": "after 2s", "do": "power-loss", "with": {"aim": "follower", "survives": "nothing"}, "for": "2s"}
    file = tmp_path / "power.json"
    file.write_text(json.dumps({"format": 1, "name": "power", "steps": [loss]}))
    run = highwater.run("--target", "kafka", "--schedule", file, "--seed", 1, "--time", "6s", "--no-report")
    assert run.status == 0, run.out + run.err
    [fault] = run.outcome["faults"]
    [lost] = fault["proof"]["cut"].values()
    assert sum(partition["bytes"] for partition in lost.values()) > 0


def test_what_a_kafka_run_needs_is_said_in_one_sentence(highwater, tmp_path, no_java):
    """Missing programs are the harness's failure, wrong options are the user's."""
    empty = {**no_java, "HIGHWATER_KAFKA_LIBS": str(tmp_path)}
    for env, status, words in [
        (empty, 70, "HIGHWATER_KAFKA_LIBS is"),
        ({**no_java, "HIGHWATER_KAFKA_LIBS": os.environ["HIGHWATER_KAFKA_LIBS"]}, 70, "Java 17 or newer not found"),
    ]:
        run = highwater.run("--target", "kafka", "--seed", 1, env=env)
        assert run.status == status and words in run.err, (run.status, run.err)
        assert run.folders == []


@pytest.mark.parametrize("options, words", [
    (["--target", "kafka", "--mutant", "HW-09"], "only target node has known bugs"),
    (["--target", "node:4.3.1"], "write node"),
    (["--target", "node", "--feature", "eligible.leader.replicas.version=1"], "has no feature levels"),
    (["--target", "kafka", "--set", "num.io.threads=many"], "num.io.threads"),
    (["--target", "kafka", "--topic-config", "min.insync.replicas=none"], "min.insync.replicas"),
    (["--target", "kafka", "--feature", "no.such.feature=1"], "no.such.feature"),
])
def test_wrong_options_are_refused_before_the_run(highwater, options, words):
    """Each with its sentence and status 64, and no folder."""
    run = highwater.run("--seed", 1, *options)
    assert run.status == 64 and words in run.err, (run.status, run.err)
    assert run.folders == []
