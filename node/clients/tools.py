"""Apache Kafka's command-line tools and kcat as functions; HIGHWATER_KAFKA_LIBS is the folder of jars."""
import glob
import os
import subprocess

JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]


def class_path():
    """All jars of HIGHWATER_KAFKA_LIBS."""
    folder = os.environ.get("HIGHWATER_KAFKA_LIBS", "")
    assert glob.glob(os.path.join(folder, "kafka-clients-*.jar")), \
        f"no Kafka jars in HIGHWATER_KAFKA_LIBS={folder!r}: run .ci/setup kafka"
    return os.path.join(folder, "*")


def java(name, *args, stdin=None, timeout=90):
    """Run one tool; its standard output as text, a failure as an assertion with all it said."""
    done = subprocess.run(["java", *JVM, "-cp", class_path(), name, *args], input=stdin, capture_output=True,
                          text=True, timeout=timeout)
    assert done.returncode == 0, f"{name} {args}: {done.stdout}{done.stderr}"
    return done.stdout


def dump(*files, metadata=False):
    """DumpLogSegments of segment files, records included."""
    options = ["--cluster-metadata-decoder"] if metadata else ["--print-data-log", "--deep-iteration"]
    return java("org.apache.kafka.tools.DumpLogSegments", "--files", ",".join(files), *options)


def kcat(*args, stdin=None, timeout=60):
    """Run kcat; its standard output as bytes."""
    done = subprocess.run(["kcat", *args], input=stdin, capture_output=True, timeout=timeout)
    assert done.returncode == 0, f"kcat {args}: {done.stderr.decode(errors='replace')}"
    return done.stdout


def bootstrap(cluster):
    """The client addresses of all nodes."""
    return ",".join(cluster.address[n] for n in cluster.nodes)
