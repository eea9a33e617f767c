"""Apache Kafka's own tools work against the node, and read the files that it writes."""
import glob
import os
import re
import shutil

import pytest

from lib import records
from lib.cluster import SET
from tools import bootstrap, dump, java

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture
def data(request):
    """Folder of one node's data directory, by node id."""
    base = os.path.abspath(request.config.getoption("--base"))
    return lambda node: os.path.join(base, f"n{node}", "data")


def segments(folder):
    """Segment files of a partition folder, oldest first."""
    found = sorted(glob.glob(os.path.join(folder, "*.log")))
    assert found, f"no segment in {folder}"
    return found


def test_topic_command_creates_and_describes(cluster):
    """The Java admin client creates a topic and reads it back."""
    topic = cluster.name("java")
    cluster.topics.append(topic)
    java("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", bootstrap(cluster), "--create", "--topic", topic,
         "--partitions", "2", "--replication-factor", "3", "--config", "min.insync.replicas=2")
    said = java("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", bootstrap(cluster), "--describe", "--topic", topic)
    assert "PartitionCount: 2" in said and "ReplicationFactor: 3" in said
    assert "min.insync.replicas=2" in said


@pytest.mark.parametrize("codec", CODECS)
def test_java_producer_and_consumer(cluster, codec):
    """The Java producer (idempotent, acks=all by default) and an assigned Java consumer, every codec."""
    topic = cluster.create()
    lines = [f"{codec} line {n} " + "z" * (n * 11) for n in range(40)]
    java("org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", bootstrap(cluster), "--topic", topic,
         "--compression-codec", codec, stdin="\n".join(lines) + "\n")
    cluster.latest(topic)
    said = java("org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", bootstrap(cluster), "--topic", topic,
                "--partition", "0", "--offset", "earliest", "--max-messages", str(len(lines)), "--timeout-ms", "30000")
    assert said.splitlines()[:len(lines)] == lines


def test_dump_log_segments_calls_every_batch_valid(cluster, data):
    """All codecs, idempotent and plain batches, several segments; on every replica."""
    topic = cluster.create(configs={"segment.bytes": 1048576, "min.insync.replicas": 2})
    pid, count = cluster.new_pid(), 0
    for codec in CODECS:
        cluster.append(topic, *[b"v%d" % n * 100 for n in range(200)], codec=codec)
        cluster.append(topic, b"idempotent", b"pair", pid=pid, epoch=0, seq=2 * count, codec=codec)
        count += 1
    for _ in range(3):
        cluster.append(topic, os.urandom(600_000))
    cluster.replica_bytes(topic)
    for node in cluster.nodes:
        files = segments(os.path.join(data(node), f"{topic}-0"))
        assert len(files) >= 2
        said = dump(*files)
        batches = re.findall(r"baseOffset: .* isvalid: (\w+)", said)
        assert len(batches) >= 2 * len(CODECS) + 3
        assert set(batches) == {"true"}
        assert said.count("baseSequence: ") >= len(batches)


def test_dump_log_segments_reads_indexes_and_snapshots(cluster, data):
    """.index, .timeindex and .snapshot files are Kafka's."""
    topic = cluster.create(configs={"segment.bytes": 1048576, "index.interval.bytes": 1})
    pid = cluster.new_pid()
    for n in range(4):
        cluster.append(topic, os.urandom(400_000), pid=pid, epoch=0, seq=n)
    cluster.replica_bytes(topic)
    folder = os.path.join(data(cluster.leader(topic)), f"{topic}-0")
    active = os.path.basename(segments(folder)[-1]).removesuffix(".log")
    for kind in ("index", "timeindex"):
        files = sorted(glob.glob(os.path.join(folder, f"*.{kind}")))
        closed = [file for file in files if active not in file]  # Kafka preallocates that of the active one
        assert closed
        for file in closed:
            said = java("org.apache.kafka.tools.DumpLogSegments", "--files", file, "--index-sanity-check")
            assert "passed sanity check" in said
    snapshots = glob.glob(os.path.join(folder, "*.snapshot"))
    assert snapshots, "a rolled segment leaves a producer snapshot"
    said = java("org.apache.kafka.tools.DumpLogSegments", "--files", sorted(snapshots)[-1])
    assert f"producerId: {pid}" in said


def test_metadata_log_is_decoded(cluster, data):
    """Kafka's metadata decoder reads our metadata log: topics, partitions, brokers, configs."""
    topic = cluster.create(configs={"min.insync.replicas": 2})
    cluster.alter(topic, [("retention.ms", SET, "123456")])
    controller = 9 if cluster.driver["layout"] == "separate" else cluster.controller()
    said = dump(*segments(os.path.join(data(controller), "__cluster_metadata-0")), metadata=True)
    for kind in ("REGISTER_BROKER_RECORD", "TOPIC_RECORD", "PARTITION_RECORD", "FEATURE_LEVEL_RECORD", "CONFIG_RECORD",
                 "BROKER_REGISTRATION_CHANGE_RECORD"):
        assert f'"type":"{kind}"' in said, kind
    assert f'"name":"{topic}"' in said
    assert "123456" in said
    assert "isvalid: false" not in said


def test_a_partition_folder_of_apache_kafka_is_served(cluster, data, tmp_path):
    """Segments that Apache Kafka wrote, put in place of ours, are served byte for byte (rule 1)."""
    recorded = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kafka-partition")
    topic = cluster.create(replicas=[1])
    cluster.stop(1)
    folder = os.path.join(data(1), f"{topic}-0")
    own_id = open(os.path.join(folder, "partition.metadata")).read()
    shutil.rmtree(folder)
    shutil.copytree(recorded, folder)
    with open(os.path.join(folder, "partition.metadata"), "w") as out:
        out.write(own_id)
    cluster.start(1)
    cluster.wait_leader(topic, leader=1)
    with open(segments(recorded)[0], "rb") as log:
        stored = log.read()
    end = records.parse(stored)[-1].last + 1
    assert cluster.latest(topic) == end
    served, offset = b"", 0
    while offset < end:
        part = cluster.fetch(topic, offset, node=1, version=12)
        served += bytes(part.Records)
        offset = records.parse(part.Records)[-1].last + 1
    assert [b.records for b in records.parse(served)] == [b.records for b in records.parse(stored)]
    assert served == stored
