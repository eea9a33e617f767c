"""kcat produces with every codec and acks level and reads back, also across a leader kill."""
import json

import pytest

from lib.cluster import wait_for
from tools import bootstrap, kcat

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
LINES = [b"line %d " % n + b"abc" * (n * 7) for n in range(60)]


def send(cluster, topic, lines, codec="none", acks="all"):
    """Produce lines to partition 0 in one call."""
    kcat("-P", "-b", bootstrap(cluster), "-t", topic, "-p", "0", "-z", codec, "-X", f"acks={acks}",
         "-X", "message.timeout.ms=40000", stdin=b"\n".join(lines) + b"\n")


def received(cluster, topic):
    """All values of partition 0 from the start to its end."""
    out = kcat("-C", "-b", bootstrap(cluster), "-t", topic, "-p", "0", "-o", "beginning", "-e", "-q")
    return out.split(b"\n")[:-1]


@pytest.mark.parametrize("acks", ("1", "all"))
@pytest.mark.parametrize("codec", CODECS)
def test_kcat_reads_back_what_it_wrote(cluster, codec, acks):
    """Byte for byte, in order (rules 1, 38)."""
    topic = cluster.create()
    send(cluster, topic, LINES, codec, acks)
    wait_for(lambda: cluster.latest(topic) == len(LINES), "all records below the high watermark", 20)
    assert received(cluster, topic) == LINES


def test_kcat_without_acknowledgement(cluster):
    """acks=0 has no answer, yet on a healthy cluster the records arrive (rule 36)."""
    topic = cluster.create()
    send(cluster, topic, LINES, acks="0")
    wait_for(lambda: cluster.latest(topic) == len(LINES), "all records below the high watermark", 20)
    assert received(cluster, topic) == LINES


def test_kcat_lists_brokers_and_topics(cluster):
    """Metadata as librdkafka reads it."""
    topic = cluster.create(partitions=2)
    listed = json.loads(kcat("-L", "-J", "-b", bootstrap(cluster), "-t", topic))
    assert sorted(b["id"] for b in listed["brokers"]) == cluster.nodes
    assert [len(p["replicas"]) for p in listed["topics"][0]["partitions"]] == [3, 3]


@pytest.mark.fault
def test_kcat_across_a_leader_kill(cluster):
    """Acknowledged before the kill, readable after it (rule 26)."""
    topic = cluster.create()
    send(cluster, topic, LINES[:30], "lz4")
    leader = cluster.leader(topic)
    cluster.kill(leader)
    cluster.wait_leader(topic, not_leader=leader)
    send(cluster, topic, LINES[30:], "zstd")
    assert received(cluster, topic) == LINES
