"""Runs the gate's stages in order, adds up what their runners counted, and ends with one count line.

A stage is a shell command. Its output goes to the terminal and to target/gate/NAME.log. A stage whose
runner counts nothing counts as one test. With CI set, a skipped test is a failed one.
"""
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBS = os.path.join(ROOT, "target", "kafka", "4.3.1")
PYTEST = ("BROKER_BINARY=$PWD/target/release/highwater-node CONFORMANCE_LAYOUT=separate CONFORMANCE_COORDINATORS=0 "
          "target/venv/bin/python -m pytest -q -p no:cacheprovider --target node --base target/cluster")


@dataclass
class Stage:
    """One command of the gate and how its counts are read."""

    name: str
    command: str
    runner: str = "plain"  # plain, cargo or pytest
    enabled: bool = True


@dataclass
class Count:
    """Tests that passed, failed and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)


STAGES = [
    Stage("lint", "make --no-print-directory lint"),
    Stage("deny", "make --no-print-directory deny"),
    Stage("binaries", "make --no-print-directory build"),
    Stage("tests", "cargo test --workspace --no-fail-fast", "cargo"),
    Stage("scripts", "target/venv/bin/python -m pytest -q -p no:cacheprovider .ci", "pytest"),
    Stage("clusters", "target/venv/bin/python -m pytest -q -p no:cacheprovider harness/e2e", "pytest"),
    Stage("conformance", f"{PYTEST} node/conformance -k 'test_0'", "pytest"),
    Stage("clients", f"{PYTEST} node/clients", "pytest"),
    Stage("doc", "make --no-print-directory doc"),
]


def number(pattern, text):
    """The sum of all numbers that the pattern's group catches."""
    return sum(int(found) for found in re.findall(pattern, text))


def count(stage, text, status):
    """What the stage's runner counted; a failure that no runner counted is one failure."""
    if stage.runner == "cargo":
        lines = "\n".join(line for line in text.splitlines() if line.startswith("test result:"))
        got = Count(number(r"(\d+) passed", lines), number(r"(\d+) failed", lines), number(r"(\d+) ignored", lines))
    elif stage.runner == "pytest":
        last = "\n".join(line for line in text.splitlines() if re.search(r"\d+ (passed|failed|error)", line))
        got = Count(number(r"(\d+) passed", last), number(r"(\d+) (?:failed|error)", last), number(r"(\d+) skipped", last))
    else:
        got = Count(passed=1 if status == 0 else 0)
    if status != 0 and got.failed == 0:
        got.failed = 1
    return got


def run(stage):
    """Run one stage, showing and keeping its output; its counts."""
    print(f"==> {stage.name}: {stage.command}", flush=True)
    began = time.monotonic()
    os.makedirs(os.path.join(ROOT, "target", "gate"), exist_ok=True)
    env = dict(os.environ, HIGHWATER_KAFKA_LIBS=LIBS, KAFKA_CLIENTS_JAR=os.path.join(LIBS, "kafka-clients-4.3.1.jar"))
    text = []
    with open(os.path.join(ROOT, "target", "gate", f"{stage.name}.log"), "w") as log:
        process = subprocess.Popen(stage.command, shell=True, cwd=ROOT, env=env, text=True, errors="replace",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in process.stdout:
            sys.stdout.write(line)
            log.write(line)
            text.append(line)
    got = count(stage, "".join(text), process.wait())
    print(f"<== {stage.name}: {got.passed} passed, {got.failed} failed, {got.skipped} skipped "
          f"in {time.monotonic() - began:.0f} s", flush=True)
    return got


def main():
    """All stages, or those named as arguments."""
    wanted = set(sys.argv[1:])
    unknown = wanted - {stage.name for stage in STAGES}
    if unknown:
        raise SystemExit(f"no such stage: {', '.join(sorted(unknown))}; there are {', '.join(s.name for s in STAGES)}")
    total = Count()
    for stage in STAGES:
        if not wanted or stage.name in wanted:
            total += run(stage)
    if os.environ.get("CI") and total.skipped:
        print(f"{total.skipped} skipped tests count as failed here")
        total = Count(total.passed, total.failed + total.skipped, 0)
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
