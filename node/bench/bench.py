"""Measures the node beside Apache Kafka with librdkafka: alternating rounds, same client, same machine.

Writes target/bench/node.json and prints the table that docs/performance.md quotes. Needs
BROKER_BINARY, KAFKA_CLASSPATH and KAFKA_CLIENTS_JAR as ../conformance does.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import string
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "conformance"), os.path.join(HERE, "..", "conformance", "drivers")]
os.environ.setdefault("CONFORMANCE_LAYOUT", "separate")
import common  # noqa: E402
import kafka  # noqa: E402
import node  # noqa: E402
from confluent_kafka import Producer  # noqa: E402
from lib.cluster import Cluster  # noqa: E402

SIZES, ACKS = (1024, 100), ("1", "all")
BYTES_PER_MEASUREMENT = 150_000_000
MESSAGES_AT_MOST = 800_000
LATENCY_MESSAGES = 2000
kafka.JVM[:] = ["-Xms512m", "-Xmx1g", "-XX:+UseSerialGC", "-Xshare:auto"]  # both compilers: speed is measured
common.PROPERTIES.update({"num.network.threads": 3, "num.io.threads": 8, "replica.fetch.wait.max.ms": 500,
                          "replica.lag.time.max.ms": 30000})


def messages(base, size):
    """A file of messages of `size` bytes, one a line, and their number."""
    count = min(MESSAGES_AT_MOST, BYTES_PER_MEASUREMENT // size)
    path = os.path.join(base, f"{count}x{size}")
    if not os.path.exists(path):
        letters = bytes(random.Random(size).choices(string.ascii_letters.encode(), k=64 * 1024))
        with open(path, "wb") as out:
            for n in range(count):
                out.write(letters[n % 4096:n % 4096 + size] + b"\n")
    return path, count


def throughput(cluster, base, topic, size, acks):
    """Megabytes a second of `size` byte messages until the last one is acknowledged: kcat, librdkafka in C."""
    path, count = messages(base, size)
    settings = {"acks": acks, "queue.buffering.max.messages": 500_000, "queue.buffering.max.kbytes": 262_144}
    options = [word for name, value in settings.items() for word in ("-X", f"{name}={value}")]
    began = time.monotonic()
    done = subprocess.run(["kcat", "-P", "-b", ",".join(cluster.address.values()), "-t", topic, "-p", "-1",
                           *options, "-l", path], stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    assert done.returncode == 0 and "Delivery failed" not in done.stderr, done.stderr
    return count * size / took / 1e6


def latency(cluster, topic, acks):
    """(p50, p99) in milliseconds of single messages, one at a time, linger 0."""
    client = Producer({"bootstrap.servers": ",".join(cluster.address.values()), "acks": acks, "linger.ms": 0})
    took, done = [], []
    for n in range(LATENCY_MESSAGES):
        began = time.monotonic()
        client.produce(topic, b"x" * 100, partition=n % 3, on_delivery=lambda e, m: done.append(e))
        while len(done) <= n:
            client.poll(1)
        took.append((time.monotonic() - began) * 1000)
    assert not any(done)
    took = sorted(took[LATENCY_MESSAGES // 10:])
    return took[len(took) // 2], took[len(took) * 99 // 100]


def measure(cluster, base, name):
    """All figures of one running cluster: {figure: value}."""
    topic = cluster.create(partitions=3, configs={"min.insync.replicas": 2})
    for size in SIZES:  # warms the JVM, the page cache and the connections
        throughput(cluster, base, topic, size, "all")
    found = {}
    for acks in ACKS:
        found[f"latency acks={acks} p50 ms"], found[f"latency acks={acks} p99 ms"] = latency(cluster, topic, acks)
        for size in SIZES:
            found[f"throughput {size} B acks={acks} MB/s"] = throughput(cluster, base, topic, size, acks)
    print(name, {k: round(v, 2) for k, v in found.items()}, flush=True)
    return found


def one_round(driver, base):
    """Start a fresh cluster, measure it, stop it."""
    running = driver(os.path.join(base, driver.name))
    running.down()
    shutil.rmtree(running.base, ignore_errors=True)
    os.makedirs(running.base)
    running.up()
    try:
        cluster = Cluster(os.path.join(running.base, "driver.json"))
        cluster.wait_whole(120)
        return measure(cluster, base, driver.name)
    finally:
        running.down()


def main():
    """Alternating rounds, medians, ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="target/bench")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    rounds = {"kafka": [], "node": []}
    for _ in range(args.rounds):
        for driver in (kafka.Kafka, node.Node):
            rounds[driver.name].append(one_round(driver, args.base))
    table = {}
    print("| figure | node | Apache Kafka 4.3.1 | ratio |\n|---|---|---|---|")
    for figure in rounds["node"][0]:
        ours, theirs = (statistics.median(r[figure] for r in rounds[name]) for name in ("node", "kafka"))
        ratio = ours / theirs if "MB/s" in figure else theirs / ours
        table[figure] = {"node": ours, "kafka": theirs, "ratio": ratio}
        print(f"| {figure} | {ours:.2f} | {theirs:.2f} | {ratio:.2f} |")
    with open(os.path.join(args.base, "node.json"), "w") as out:
        json.dump({"rounds": rounds, "medians": table}, out, indent=1)


if __name__ == "__main__":
    main()
