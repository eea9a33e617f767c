"""The script in docs/ci.md, as a CI runner would call it."""
import os
import re
import subprocess
import tarfile
import xml.etree.ElementTree as xml

import pytest
from conftest import BIN, ROOT


@pytest.fixture
def step(tmp_path):
    """Calls the script in a workspace of its own; gives status, standard error and the workspace."""
    with open(os.path.join(ROOT, "docs", "ci.md")) as text:
        [script] = re.findall(r"```sh\n(.*?)```", text.read(), re.S)
    file = tmp_path / "ci.sh"
    file.write_text(script)

    def call(*options):
        done = subprocess.run(["sh", str(file), *options], cwd=tmp_path, capture_output=True, text=True, timeout=200,
                              env=dict(os.environ, HIGHWATER=BIN, CI="true"))
        return done.returncode, done.stderr, tmp_path / "artifacts"

    return call


def test_a_valid_run_passes_and_leaves_its_artifacts(step):
    """Exit status 0, a JUnit report without failures, the run folder without the nodes' data."""
    status, stderr, artifacts = step("--seed", "1", "--time", "12s")
    assert status == 0, stderr
    suites = xml.parse(artifacts / "junit.xml").getroot()
    assert int(suites.get("tests")) > 5 and suites.get("failures") == "0"
    with tarfile.open(artifacts / "run.tar.gz") as archive:
        names = archive.getnames()
    assert any(name.endswith("/verdict.json") for name in names) and any("/dumps/" in name for name in names)
    assert not any("/data/" in name for name in names)


def test_a_broken_promise_fails_the_step_and_says_how_to_repeat_it(step):
    """Exit status 1, a JUnit report with a failure, the command on the last line."""
    status, stderr, artifacts = step("--schedule", "S3", "--mutant", "HW-26", "--seed", "1")
    assert status == 1, stderr
    assert int(xml.parse(artifacts / "junit.xml").getroot().get("failures")) > 0
    assert stderr.strip().splitlines()[-1].startswith("highwater run "), stderr


def suites_of(artifacts):
    """The suites of the published report: name to failures and errors."""
    suites = xml.parse(artifacts / "junit.xml").getroot()
    return {suite.get("name"): int(suite.get("failures")) + int(suite.get("errors")) for suite in suites}


def test_a_later_job_publishes_nothing_of_an_earlier_one(step):
    """Two valid seeds whose folders are dropped are both in the report; a wrong option then leaves none: exit 64."""
    status, stderr, artifacts = step("--schedule", "calm", "--time", "4s", "--seeds", "1..2", "--keep", "failing")
    assert status == 0, stderr
    assert suites_of(artifacts) == {"highwater.seed-1": 0, "highwater.seed-2": 0}
    assert not (artifacts / "run.tar.gz").exists(), "no folder was kept"
    status, stderr, artifacts = step("--schedule", "calm", "--time", "4s", "--seed", "1")
    assert status == 0 and (artifacts / "run.tar.gz").exists(), stderr
    assert suites_of(artifacts) == {"highwater": 0}
    status, stderr, artifacts = step("--schedule", "none-of-these")
    assert status == 64 and "unknown schedule" in stderr
    assert os.listdir(artifacts) == []


def test_every_seed_that_failed_is_in_the_report_and_the_archive(step):
    """Exit status 1, a suite and a run folder for each of two seeds."""
    status, stderr, artifacts = step("--schedule", "S3", "--mutant", "HW-26", "--time", "1s", "--seeds", "1..2",
                                     "--keep", "failing")
    assert status == 1, stderr
    failed = suites_of(artifacts)
    assert list(failed) == ["highwater.seed-1", "highwater.seed-2"] and all(failed.values()), failed
    with tarfile.open(artifacts / "run.tar.gz") as archive:
        verdicts = [name for name in archive.getnames() if name.endswith("/verdict.json")]
    assert len(verdicts) == 2, verdicts
