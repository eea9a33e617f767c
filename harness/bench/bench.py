"""Measures the harness without faults, and the report on a million operations.

Prints the rows that docs/performance.md quotes and writes target/bench/harness.json. Run it as
`make bench` does, from the top of the repository with the release binaries built.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import time

BIN = os.path.abspath("target/release")
# Pipelined: as many sends and polls as fit.
LOAD = ["--acks", "all", "--producers", "64", "--rate", "0", "--poll-rate", "0", "--value-size", "64"]
CALM = {"format": 1, "name": "calm", "about": "Nothing goes wrong.", "steps": [{"when": "after 1s"}]}
MILLION = 1_000_000


def run(base, seconds, seed):
    """One run without faults: its folder and verdict."""
    out = os.path.join(base, "run")
    shutil.rmtree(out, ignore_errors=True)
    schedule = os.path.join(base, "calm.json")
    with open(schedule, "w") as handle:
        json.dump(CALM, handle)
    command = [f"{BIN}/highwater", "run", "--schedule", schedule, "--time", f"{seconds}s", "--seed", str(seed),
               "--out", out, "--json", "--quiet", "--no-report", *LOAD]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    verdict = json.loads(done.stdout)
    assert verdict["verdict"] == "valid", verdict
    return os.path.join(out, os.listdir(out)[0]), verdict


def recorded_per_second(folder, verdict):
    """Operations a second from the run's zero until the load ended."""
    with open(os.path.join(folder, "outcome.json")) as handle:
        ended_ns = json.load(handle)["recovery"]["healed_at"]
    return verdict["counts"]["ops"] / (ended_ns / 1e9)


def seconds(command):
    """How long one command takes that succeeds."""
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def main():
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="target/bench/harness")
    args = parser.parse_args()
    os.makedirs(args.base, exist_ok=True)
    rows = {"harness without faults, recorded operations a second": [
        recorded_per_second(*run(args.base, 10, seed)) for seed in range(1, 4)]}
    rate = statistics.median(rows["harness without faults, recorded operations a second"])
    folder, verdict = run(args.base, int(MILLION / rate) + 5, 1)
    report = os.path.join(folder, "report.html")
    rows[f"report, {verdict['counts']['ops']:,} operations, s"] = [
        seconds([f"{BIN}/highwater", "report", folder]) for _ in range(3)]
    rows["its size, MB"] = [os.path.getsize(report) / 1e6]
    print("| figure | median | worst |\n|---|---|---|")
    for figure, values in rows.items():
        worst = min(values) if "second" in figure else max(values)
        print(f"| {figure} | {statistics.median(values):,.2f} | {worst:,.2f} |")
    with open(f"{args.base}.json", "w") as out:
        json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
