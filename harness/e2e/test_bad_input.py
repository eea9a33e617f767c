"""Bad input gets one clear sentence, its exit status, and loses nothing."""
import json
import os
import signal
import time

import pytest

from conftest import left_behind


def sentence(result, status, *words):
    """The exit status, and all words on standard error."""
    assert result.status == status, f"{result.status}: {result.err}"
    for word in words:
        assert word in result.err, result.err
    assert "panicked" not in result.err


@pytest.mark.parametrize("args,words", [
    (("--schedule", "no-such"), ("no-such",)),
    (("--workload", "no-such"), ("no-such",)),
    (("--target", "no-such"), ("no-such",)),
    (("--mutant", "XX-99"), ("XX-99",)),
    (("--set", "replica.lag.time.max.msx=5"), ("replica.lag.time.max.msx",)),
    (("--topic-config", "replication.factor=3"), ("replication.factor",)),
    (("--acks", "2"), ("2",)),
    (("--time", "soon"), ("soon",)),
    (("--seeds", "9..1"), ("9..1",)),
    (("--no-such-option",), ("--no-such-option",)),
])
def test_a_wrong_option_is_usage(highwater, args, words):
    """64, naming what is wrong, before anything starts."""
    sentence(highwater("run", *args), 64, *words)


def test_a_malformed_schedule_names_line_and_field(highwater, tmp_path):
    """64 with file, line and field."""
    file = tmp_path / "bad.json"
    file.write_text('{"format": 1,\n "name": "x",\n "about": "x",\n "steps": [\n  {"when": 7}\n ]}\n')
    sentence(highwater("run", "--schedule", file), 64, "bad.json", "5", "when")


def test_a_missing_binary_is_a_harness_failure(highwater):
    """70, with what to do."""
    sentence(highwater("run", "--time", "1s", env={"HIGHWATER_NODE_BIN": "/no/such/binary"}), 70, "/no/such/binary")


def test_mutants_that_cannot_be_asked_for_are_no_empty_list(highwater):
    """70 where only they are wanted; all else is listed without them."""
    env = {"HIGHWATER_NODE_BIN": "/no/such/binary"}
    sentence(highwater("list", "mutants", env=env), 70, "/no/such/binary")
    sentence(highwater("list", "--json", env=env), 0, "/no/such/binary")


def test_a_full_disk_is_a_harness_failure(highwater, tmp_path):
    """An --out that cannot be written is said at once."""
    sentence(highwater("run", "--time", "1s", "--out", "/dev/full/x"), 70, "/dev/full")


def test_check_refuses_what_it_cannot_read(highwater, tmp_path):
    """A broken line, an unknown format, a missing path: 64 with the place."""
    broken = tmp_path / "history.jsonl"
    broken.write_text('{"index":0,"time":1,"process":0,"type":"invoke","f":"send","value":[["send","t-0",1]]}\n{oops}\n'
                      '{"index":2,"time":3,"process":0,"type":"ok","f":"send","value":[["send","t-0",[0,1]]]}\n')
    sentence(highwater("check", broken), 64, "history.jsonl", "2")
    sentence(highwater("check", tmp_path / "nothing"), 64, "nothing")


def test_a_truncated_history_is_judged(highwater, tmp_path):
    """The last line may be incomplete: dropped, noted, judged."""
    cut = tmp_path / "history.jsonl"
    lines = ['{"index":0,"time":1,"process":0,"type":"invoke","f":"send","value":[["send","t-0",1]]}',
             '{"index":1,"time":2,"process":0,"type":"ok","f":"send","value":[["send","t-0",[0,1]]]}',
             '{"index":2,"time":3,"process":1,"type":"invoke","f":"poll","value":[["poll"]]}',
             '{"index":3,"time":4,"process":1,"type":"ok","f":"poll","value":[["poll",{"t-0":[[0,1]]}]]}', '{"index":4,"ti']
    cut.write_text("\n".join(lines))
    assert highwater("check", cut).status == 0


def test_unfit_histories_are_unknown(highwater, tmp_path):
    """A duplicate value, two invokes in flight in one process: 2, with the reason."""
    send = '{"index":%d,"time":%d,"process":%d,"type":"%s","f":"send","value":[["send","t-0",%s]]}\n'
    twice = tmp_path / "twice.jsonl"
    twice.write_text("".join([send % (0, 1, 0, "invoke", 1), send % (1, 2, 0, "ok", "[0,1]"),
                              send % (2, 3, 0, "invoke", 1), send % (3, 4, 0, "ok", "[1,1]")]))
    assert highwater("check", twice).status == 2
    overlap = tmp_path / "overlap.jsonl"
    overlap.write_text("".join([send % (0, 1, 0, "invoke", 1), send % (1, 2, 0, "invoke", 2)]))
    assert highwater("check", overlap).status == 2


def test_a_killed_harness_is_healed(highwater):
    """kill -9 in the middle of faults; `heal` restores everything, a second one has nothing to do."""
    process, out = highwater.start("--seed", 3, "--time", "30s")
    deadline = time.monotonic() + 60
    while not (journals := [os.path.join(out, d, "journal.jsonl") for d in (os.listdir(out) if os.path.isdir(out) else [])]) \
            or not any(os.path.exists(j) and '"cut"' in open(j).read() or os.path.exists(j) and '"pause"' in open(j).read()
                       for j in journals):
        assert time.monotonic() < deadline and process.poll() is None, process.stderr.read() if process.poll() else "no fault"
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    process.stderr.close()
    folder = os.path.dirname(journals[0])
    first = highwater("heal", folder)
    assert first.status == 0, first.err
    assert left_behind(out) == []
    second = highwater("heal", folder)
    assert second.status == 0 and "nothing" in (second.out + second.err), second.out + second.err
    judged = highwater("check", folder)
    assert judged.status in (2, 3), judged.out + judged.err


def test_two_runs_at_once(highwater):
    """Fresh ports, folders and names: neither disturbs the other."""
    first, _ = highwater.start("--seed", 5, "--time", "8s", "--no-report")
    second, _ = highwater.start("--seed", 6, "--time", "8s", "--no-report")
    said = [process.communicate(timeout=200) for process in (first, second)]
    assert first.returncode in (0, 3) and second.returncode in (0, 3), said


def test_an_interrupt_heals_and_exits_130(highwater):
    """SIGINT: nothing is left, the history so far is there."""
    process, out = highwater.start("--seed", 4, "--time", "30s")
    deadline = time.monotonic() + 30
    while not (os.path.isdir(out) and any(os.path.exists(os.path.join(out, d, "history.jsonl")) for d in os.listdir(out))):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert left_behind(out) == []
    assert json.loads(highwater("list", "targets", "--json").out)
