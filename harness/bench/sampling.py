"""Measures what sampling costs the clients: median send latency with samples and without, in pairs.

Prints the row that docs/performance.md quotes. Run it as `make bench` does, from the top of the
repository with the release binaries built.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile

BIN = os.path.abspath("target/release")
LOAD = ["--schedule", "calm", "--time", "10s", "--rate", "1000", "--acks", "all"]
SAMPLES_A_SECOND = {"on": 5, "off": 0}


def p50_ms(base, sampling, seed):
    """The median from the intended start of an ok send to its end, in milliseconds."""
    out = os.path.join(base, sampling)
    command = [f"{BIN}/highwater", "run", *LOAD, "--sample-hz", str(SAMPLES_A_SECOND[sampling]), "--seed", str(seed),
               "--out", out, "--quiet", "--no-report"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    # Without samples some claims cannot be decided: that is no failure here.
    assert done.returncode in (0, 2), done.stdout
    began, took = {}, []
    with open(os.path.join(out, os.listdir(out)[0], "history.jsonl")) as history:
        for line in history:
            event = json.loads(line)
            if event.get("f") != "send":
                continue
            if event["type"] == "invoke":
                began[event["process"]] = event.get("intended", event["time"])
            elif event["type"] == "ok":
                took.append(event["time"] - began[event["process"]])
    shutil.rmtree(out)
    return statistics.median(took) / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=5)
    args = parser.parse_args()
    found = {"on": [], "off": []}
    with tempfile.TemporaryDirectory() as base:
        for pair in range(args.pairs):
            # Who goes first alternates, too.
            for sampling in ("on", "off") if pair % 2 == 0 else ("off", "on"):
                found[sampling].append(p50_ms(base, sampling, pair + 1))
    ratios = [on / off for on, off in zip(found["on"], found["off"])]
    on, off = (statistics.median(found[sampling]) for sampling in ("on", "off"))
    print("| figure | sampling on | off | median ratio of pairs |\n|---|---|---|---|")
    print(f"| send p50 at acks=all, 1,000/s, ms | {on:.3f} | {off:.3f} | {statistics.median(ratios):.3f} |")


if __name__ == "__main__":
    main()
