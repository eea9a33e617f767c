"""Measures the harness without faults, and the checker and the report on a million operations.

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


def measured(command, statuses=(0,)):
    """(seconds, MiB resident at most) of one command, which ends with one of these statuses."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - began
    assert os.waitstatus_to_exitcode(status) in statuses, (command, status)
    return took, usage.ru_maxrss / 1024


def checker(base):
    """Rows of judging a million operations: from JSON lines beside parsing alone, from the binary form, and where
    most of them are anomalies. Runs take turns, so that ratios hold on a machine that drifts."""
    example = ["cargo", "build", "--quiet", "--release", "-p", "highwater-history", "--examples"]
    subprocess.run(example, check=True)
    write, read = (f"{BIN}/examples/{name}" for name in ("big_history", "read_history"))
    valid, broken, binary = (os.path.join(base, name) for name in ("valid.jsonl", "broken.jsonl", "valid.hwh"))
    subprocess.run([write, valid, str(MILLION)], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([write, broken, str(MILLION), "broken"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([f"{BIN}/highwater-convert", valid, binary], check=True, stderr=subprocess.DEVNULL)
    rounds = []
    for _ in range(5):
        rounds.append({
            "parse": measured([read, valid]), "lines": measured([f"{BIN}/highwater-check", valid]),
            "binary": measured([f"{BIN}/highwater-check", binary]),
            "broken": measured([f"{BIN}/highwater-check", broken], (1,))})
    megabytes = os.path.getsize(valid) / 1e6
    rows = {
        f"checker, 1,000,000 operations ({megabytes:.0f} MB of JSON lines), s": [r["lines"][0] for r in rounds],
        "the same, MiB resident": [r["lines"][1] for r in rounds],
        "the same beside parsing alone, times": [r["lines"][0] / r["parse"][0] for r in rounds],
        f"the same in binary form ({os.path.getsize(binary) / 1e6:.1f} MB), s": [r["binary"][0] for r in rounds],
        "4.5 million anomalies beside none, times": [r["broken"][0] / r["lines"][0] for r in rounds]}
    for history in (valid, broken, binary):
        os.remove(history)
    return rows


def main():
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="target/bench/harness")
    args = parser.parse_args()
    os.makedirs(args.base, exist_ok=True)
    rows = checker(args.base)
    rows["harness without faults, recorded operations a second"] = [
        recorded_per_second(*run(args.base, 10, seed)) for seed in range(1, 4)]
    rate = statistics.median(rows["harness without faults, recorded operations a second"])
    folder, verdict = run(args.base, int(MILLION / rate) + 5, 1)
    report = os.path.join(folder, "report.html")
    rows[f"report, {verdict['counts']['ops']:,} operations, s"] = [
        measured([f"{BIN}/highwater", "report", folder])[0] for _ in range(3)]
    rows["its size, MB"] = [os.path.getsize(report) / 1e6]
    print("| figure | median | worst |\n|---|---|---|")
    for figure, values in rows.items():
        worst = min(values) if "second" in figure else max(values)
        print(f"| {figure} | {statistics.median(values):,.2f} | {worst:,.2f} |")
    with open(f"{args.base}.json", "w") as out:
        json.dump(rows, out, indent=1)


if __name__ == "__main__":
    main()
