"""Measures how fast the node starts, what it takes idle, and how soon it acknowledges after a leader died.

Prints the rows that docs/performance.md quotes and writes target/bench/serving.json. Needs
BROKER_BINARY as ../conformance does.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "conformance"), os.path.join(HERE, "..", "conformance", "drivers")]
os.environ["CONFORMANCE_LAYOUT"] = "separate"
import common  # noqa: E402
import node  # noqa: E402
from confluent_kafka import Producer  # noqa: E402
from lib.cluster import Cluster  # noqa: E402

SESSION_MS = 500
MEBIBYTE = 1 << 20
common.PROPERTIES.update({"broker.session.timeout.ms": SESSION_MS, "broker.heartbeat.interval.ms": 100})


class Timed(node.Node):
    """A driver that waits for each node's ready line and notes how long it took."""

    def __init__(self, base):
        super().__init__(base)
        self.ready_s = {}
        self.waiting = []

    def start(self, number):
        began = time.monotonic()
        process = subprocess.Popen(self.argv(number), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   cwd=self.path(number), text=True, start_new_session=True)
        with open(self.path(number, "pid"), "w") as handle:
            handle.write(str(process.pid))
        waiter = threading.Thread(target=self.await_ready, args=(number, process, began))
        waiter.start()
        self.waiting.append(waiter)

    def await_ready(self, number, process, began):
        for line in process.stdout:
            if line.startswith("ready "):
                self.ready_s[number] = time.monotonic() - began
                break
        process.stdout.close()

    def all_ready(self):
        for waiter in self.waiting:
            waiter.join(30)
        self.waiting.clear()

    def resident(self, number):
        with open(f"/proc/{self.pid(number)}/statm") as handle:
            return int(handle.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def time_of_ack(producer, topic):
    """When the next message at acks=all is acknowledged."""
    done = []
    producer.produce(topic, b"x" * 100, partition=0, on_delivery=lambda error, _: done.append((error, time.monotonic())))
    while not done:
        producer.poll(0.001)
    error, at = done[0]
    assert error is None, error
    return at


def failover(driver, cluster):
    """Seconds from the leader's death to the next acknowledgement."""
    topic = cluster.create(partitions=1, configs={"min.insync.replicas": 2})
    producer = Producer({"bootstrap.servers": ",".join(cluster.address.values()), "acks": "all", "linger.ms": 0, "log_level": 0,
                         "retry.backoff.ms": 10, "reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 50,
                         "topic.metadata.refresh.interval.ms": 100})
    for _ in range(50):
        time_of_ack(producer, topic)
    leader = cluster.leader(topic, 0)
    os.kill(driver.pid(leader), signal.SIGKILL)
    killed = time.monotonic()
    took = time_of_ack(producer, topic) - killed
    driver.start(leader)
    driver.all_ready()
    cluster.wait_whole(30)
    return took


def one_round(base):
    """Figures of one fresh cluster."""
    shutil.rmtree(base, ignore_errors=True)
    os.makedirs(base)
    driver = Timed(base)
    began = time.monotonic()
    driver.up()
    driver.all_ready()
    found = {"cluster serves, s": time.monotonic() - began}
    try:
        cluster = Cluster(os.path.join(driver.base, "driver.json"))
        cluster.wait_whole(30)
        time.sleep(1)  # idle
        found["idle, MiB resident"] = max(driver.resident(n) for n in common.PROCESSES) / MEBIBYTE
        driver.stop(2)
        driver.start(2)
        driver.all_ready()
        found["ready from an existing directory, s"] = driver.ready_s[2]
        cluster.wait_whole(30)
        found["acknowledged after a leader kill, s"] = failover(driver, cluster)
    finally:
        driver.down()
    return found


def main():
    """Several rounds; medians and worst."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="target/bench/serving")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rounds = [one_round(args.base) for _ in range(args.rounds)]
    print("| figure | median | worst |\n|---|---|---|")
    for figure in rounds[0]:
        values = [found[figure] for found in rounds]
        print(f"| {figure} | {statistics.median(values):.3f} | {max(values):.3f} |")
    print(f"(session time-out {SESSION_MS} ms)")
    with open(f"{args.base}.json", "w") as out:
        json.dump(rounds, out, indent=1)


if __name__ == "__main__":
    main()
