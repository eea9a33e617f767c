"""Measures judging: a million operations in each form, beside parsing alone, and how it grows.

Prints what docs/performance.md quotes and writes target/bench/checker.json. Run it as `make bench` does, from
the top of the repository with the release binaries built. The largest history, 44 GB of JSON lines, is
a stream; the others are files of up to 4.4 GB. It takes about a quarter of an hour; --largest makes it short.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

BIN = os.path.abspath("target/release")
CHECK = f"{BIN}/highwater-check"
WRITE, READ = (f"{BIN}/examples/{name}" for name in ("big_history", "read_history"))
MILLION = 1_000_000
ROUNDS = 5
# What a stream is judged within that would not fit into memory otherwise.
STREAM_MEMORY = "4GiB"


def measured(command, statuses=(0,), **pipes):
    """(seconds, MiB resident at most) of one command, which ends with one of these statuses."""
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, **pipes)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - began
    assert os.waitstatus_to_exitcode(status) in statuses, (command, status)
    return took, usage.ru_maxrss / 1024


def write(file, operations, *shape):
    """A history file of a shape."""
    subprocess.run([WRITE, file, str(operations), *shape], check=True, stderr=subprocess.DEVNULL)
    return file


def convert(history, binary):
    """The same history in another form."""
    subprocess.run([f"{BIN}/highwater-convert", history, binary], check=True, stderr=subprocess.DEVNULL)
    return binary


def million(base):
    """Rows of judging a million operations. Runs take turns, so that ratios hold on a machine that drifts."""
    valid = write(os.path.join(base, "valid.jsonl"), MILLION)
    broken = write(os.path.join(base, "broken.jsonl"), MILLION, "broken")
    single = write(os.path.join(base, "single.jsonl"), MILLION, "single")
    binary = convert(valid, os.path.join(base, "valid.hwh"))
    rounds = [{"parse": measured([READ, valid]), "lines": measured([CHECK, valid]),
               "single": measured([CHECK, single]), "binary": measured([CHECK, binary]),
               "broken": measured([CHECK, broken], (1,))} for _ in range(ROUNDS)]
    bytes_of = {history: os.path.getsize(history) for history in (valid, broken, single, binary)}
    rows = {
        f"1,000,000 operations ({bytes_of[valid] / 1e6:.0f} MB of JSON lines), s": [r["lines"][0] for r in rounds],
        "the same, MB a second": [bytes_of[valid] / 1e6 / r["lines"][0] for r in rounds],
        "the same, bytes of memory an operation": [r["lines"][1] * 2**20 / MILLION for r in rounds],
        "the same beside parsing alone, times": [r["lines"][0] / r["parse"][0] for r in rounds],
        f"the same in binary form ({bytes_of[binary] / 1e6:.1f} MB), s": [r["binary"][0] for r in rounds],
        "4.5 million anomalies beside none, times": [r["broken"][0] / r["lines"][0] for r in rounds],
        "operations of one record, a second": [MILLION / r["single"][0] for r in rounds]}
    for history in bytes_of:
        os.remove(history)
    return rows


def grown(base, largest):
    """(operations, form, seconds, MiB) of histories that are ten times as large each; the largest is a stream."""
    rows, operations = [], 100_000
    while operations <= min(largest, 10 * MILLION):
        lines = write(os.path.join(base, "grown.jsonl"), operations)
        binary = convert(lines, os.path.join(base, "grown.hwh"))
        rows.append((operations, "JSON lines", *measured([CHECK, lines])))
        rows.append((operations, "binary", *measured([CHECK, binary])))
        os.remove(lines)
        os.remove(binary)
        operations *= 10
    if largest > 10 * MILLION:
        source = subprocess.Popen([WRITE, "/dev/stdout", str(largest)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        judged = measured([CHECK, "-", "--memory", STREAM_MEMORY], stdin=source.stdout)
        source.stdout.close()
        assert source.wait() == 0
        rows.append((largest, f"JSON lines, streamed, --memory {STREAM_MEMORY}", *judged))
    return rows


def chart(rows):
    """Seconds a million operations, as a chart that Markdown shows: growth that is linear is level."""
    of_lines = [row for row in rows if row[1] != "binary"]
    sizes = ", ".join(f'"{row[0]:,}"' for row in of_lines)
    each = ", ".join(f"{row[2] * MILLION / row[0]:.2f}" for row in of_lines)
    return (f"```mermaid\nxychart-beta\n  title \"Seconds a million operations\"\n  x-axis [{sizes}]\n"
            f"  y-axis 0 --> 4\n  bar [{each}]\n```")


def main():
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="target/bench/checker")
    parser.add_argument("--largest", type=int, default=100 * MILLION)
    args = parser.parse_args()
    os.makedirs(args.base, exist_ok=True)
    examples = ["cargo", "build", "--quiet", "--release", "-p", "highwater-history", "--examples"]
    subprocess.run(examples, check=True)
    rows = million(args.base)
    print("| figure | median | worst |\n|---|---|---|")
    for figure, values in rows.items():
        worst = min(values) if "second" in figure else max(values)
        print(f"| {figure} | {statistics.median(values):,.2f} | {worst:,.2f} |")
    growth = grown(args.base, args.largest)
    print("\n| operations | form | s | MiB | s a million |\n|---|---|---|---|---|")
    for operations, form, seconds, mib in growth:
        print(f"| {operations:,} | {form} | {seconds:,.2f} | {mib:,.0f} | {seconds * MILLION / operations:,.2f} |")
    print("\n" + chart(growth))
    with open(f"{args.base}.json", "w") as out:
        json.dump({"rows": rows, "growth": growth}, out, indent=1)


if __name__ == "__main__":
    main()
