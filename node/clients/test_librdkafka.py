"""confluent-kafka (librdkafka) creates topics, produces with every codec and acks level, and reads back."""
import random

import confluent_kafka
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from lib.cluster import wait_for
from tools import bootstrap

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def values(seed, count=50):
    """Compressible and random payloads of several sizes, one of them empty."""
    draw = random.Random(seed)
    made = [b"", b"x" * 5000] + [draw.randbytes(draw.randrange(1, 3000)) for _ in range(count)]
    return [b"%d:" % n + body for n, body in enumerate(made)]


def produced(cluster, topic, payloads, **settings):
    """Send payloads to partition 0, insist on success for acks 1 and all; the producer."""
    failures = []
    producer = Producer({"bootstrap.servers": bootstrap(cluster), "message.timeout.ms": 60000, **settings})
    for payload in payloads:
        producer.produce(topic, payload, partition=0, on_delivery=lambda e, m: failures.append(e) if e else None)
    assert producer.flush(70) == 0
    assert failures == []
    return producer


def consumed(cluster, topic, count):
    """The first `count` values of partition 0, read by assignment."""
    consumer = Consumer({"bootstrap.servers": bootstrap(cluster), "group.id": "unused", "enable.auto.commit": False,
                         "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = []
    def more():
        for message in consumer.consume(500, 0.2):
            assert message.error() is None, message.error()
            found.append(message.value())
        return len(found) >= count
    wait_for(more, f"{count} records of {topic}", 60, 0)
    consumer.close()
    return found


@pytest.mark.parametrize("acks", ("0", "1", "all"))
@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_and_acks_level_reads_back_byte_for_byte(cluster, codec, acks):
    """What a client sent is what a client gets (rules 1, 38)."""
    topic = cluster.create()
    sent = values(f"{codec}-{acks}")
    produced(cluster, topic, sent, **{"compression.type": codec, "acks": acks, "linger.ms": 20})
    assert consumed(cluster, topic, len(sent)) == sent


def test_admin_client_creates_a_topic(cluster):
    """CreateTopics by count, then writing and reading it."""
    admin = AdminClient({"bootstrap.servers": bootstrap(cluster)})
    topic = cluster.name("admin")
    admin.create_topics([NewTopic(topic, 3, 3, config={"min.insync.replicas": "2"})])[topic].result(30)
    cluster.topics.append(topic)
    cluster.wait_leader(topic)
    produced(cluster, topic, [b"one"], acks="all")
    assert consumed(cluster, topic, 1) == [b"one"]
    assert confluent_kafka.version()


@pytest.mark.fault
@pytest.mark.parametrize("codec", CODECS)
def test_idempotent_producer_across_a_leader_kill(cluster, codec):
    """An idempotent acks=all producer loses and duplicates nothing when its leader is killed (rules 26, 42)."""
    topic = cluster.create()
    sent = values(f"kill-{codec}", 40)
    leader = cluster.leader(topic)
    settings = {"compression.type": codec, "enable.idempotence": True, "bootstrap.servers": bootstrap(cluster),
                "message.timeout.ms": 60000, "linger.ms": 1, "topic.metadata.refresh.interval.ms": 1000}
    failures, delivered = [], []
    producer = Producer(settings)
    note = lambda e, m: failures.append(e) if e else delivered.append(m)  # noqa: E731
    for payload in sent[:20]:
        producer.produce(topic, payload, partition=0, on_delivery=note)
    wait_for(lambda: producer.poll(0.05) >= 0 and len(delivered) >= 5, "first deliveries", 30, 0)
    cluster.kill(leader)
    for payload in sent[20:]:
        producer.produce(topic, payload, partition=0, on_delivery=note)
        producer.poll(0)
    assert producer.flush(90) == 0
    assert failures == []
    assert consumed(cluster, topic, len(sent)) == sent
    cluster.start(leader)
    cluster.wait_isr(topic, cluster.nodes)
