"""Tests of the mutation score: its table is whole, and it counts what it should."""
import importlib.machinery
import importlib.util
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def load():
    """The script, which has no suffix."""
    loader = importlib.machinery.SourceFileLoader("mutants", os.path.join(HERE, "mutants"))
    spec = importlib.util.spec_from_loader("mutants", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


mutants = load()


def names(folder, keep):
    """The plug-ins of a folder, by file name."""
    files = os.listdir(os.path.join(ROOT, folder))
    found = [name.removesuffix(".rs") for name in files if name.endswith(".rs")]
    return {name.upper().replace("_", "-") for name in found if re.fullmatch(keep, name)}


def test_every_mutant_has_a_run():
    planted = names("node/core/src/mutant", r"[a-z]+_\d+")
    tried = {mutant for pair in mutants.pairs(mutants.PAIRS) for mutant in pair.mutants}
    assert tried == planted


def test_every_schedule_exists():
    known = names("harness/src/schedule", r"(?!mod|tests).*")
    assert {pair.schedule.upper() for pair in mutants.pairs(mutants.PAIRS)} <= known


def claim(name, rules, **anomalies):
    return {"claim": name, "rules": rules, "anomalies": anomalies}


def test_a_mutant_is_caught_by_a_claim_that_lists_its_rule():
    verdict = {"claims": [claim("a", [2, 14], x=2, y=1), claim("b", [9], z=4), claim("c", [14])]}
    assert mutants.findings(verdict, "14") == ({"a": 3, "b": 4}, {"a"})
    assert mutants.findings(verdict, "4") == ({"a": 3, "b": 4}, set())
    loss = {"claims": [claim("lost-write", [38], x=1)]}
    assert mutants.findings(loss, "c.1.4")[1] == {"lost-write"}


def test_seeds_are_tried_until_one_catches_and_the_healthy_node_beside_it(monkeypatch):
    commands = []

    def run(command):
        commands.append(command)
        seed = command[command.index("--seed") + 1]
        caught = "--mutant" in command and seed == "3"
        sick = "--mutant" not in command and seed == "2"
        claims = [claim("a", [14], x=1)] if caught else []
        return {"verdict": "invalid" if caught or sick else "valid", "claims": claims}

    monkeypatch.setattr(mutants, "run", run)
    row = mutants.judge(mutants.Pair(["HW-11", "HW-01"], "s20", ["--time", "9s"]), "14", {})
    assert (row.seed, row.unhealthy, len(commands)) == (3, [2], 6)
    assert commands[0][commands[0].index("--mutant"):][:6] == [
        "--mutant", "HW-11", "--mutant", "HW-01", "--time", "9s"]
    assert list(mutants.matrix([row]))[2] == (
        "| HW-11 + HW-01 | s20 --time 9s | 3 | not valid at 2 | **1** |")


def test_a_mutant_that_nothing_catches_is_missed(monkeypatch):
    monkeypatch.setattr(mutants, "run", lambda command: {"verdict": "valid", "claims": []})
    row = mutants.judge(mutants.Pair(["HW-01"], "s2", []), "14", {})
    assert list(mutants.matrix([row]))[2] == "| HW-01 | s2 | missed | valid |"
