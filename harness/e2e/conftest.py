"""The programs as a user runs them: real brokers, real faults, exit statuses and files."""
import glob
import json
import os
import signal
import subprocess
from dataclasses import dataclass, field

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("HIGHWATER_BIN", os.path.join(ROOT, "target", "release", "highwater"))


@dataclass
class Result:
    """One finished run of `highwater`."""

    status: int
    out: str
    err: str
    folders: list = field(default_factory=list)

    @property
    def verdict(self):
        """verdict.json of the only run folder."""
        assert len(self.folders) == 1, f"{self.folders} {self.err}"
        with open(os.path.join(self.folders[0], "verdict.json")) as text:
            return json.load(text)

    @property
    def outcome(self):
        """outcome.json of the only run folder."""
        with open(os.path.join(self.folders[0], "outcome.json")) as text:
            return json.load(text)

    def last_line(self):
        """The last line on standard error."""
        return self.err.strip().splitlines()[-1]


class Highwater:
    """Runs the program with run folders below one temporary folder."""

    def __init__(self, base):
        self.base = base
        self.count = 0

    def out(self):
        """A fresh folder for run folders."""
        self.count += 1
        return os.path.join(self.base, f"out{self.count}")

    def __call__(self, *args, timeout=280, env=None):
        done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=timeout,
                              cwd=self.base, env=dict(os.environ, **(env or {})))
        return Result(done.returncode, done.stdout, done.stderr)

    def run(self, *args, **options):
        """`highwater run` with its own --out; the result knows the run folders."""
        out = self.out()
        result = self("run", "--out", out, *args, **options)
        result.folders = sorted(folder for folder in glob.glob(os.path.join(out, "*")) if os.path.isdir(folder))
        assert left_behind(out) == [], "processes of this run still live"
        return result

    def start(self, *args):
        """`highwater run` in the background: (process, out folder)."""
        out = self.out()
        process = subprocess.Popen([BIN, "run", "--out", out, *map(str, args)], cwd=self.base, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        return process, out


def left_behind(folder):
    """Processes whose command line names the folder: (pid, command line)."""
    found = []
    for entry in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(entry, "rb") as text:
                line = text.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if os.path.join(folder, "") in line and line.split(" ")[0].endswith(("highwater-node", "noida-db")):
            found.append((int(entry.split("/")[2]), line))
    return found


@pytest.fixture
def highwater(tmp_path):
    """The program; whatever a failed test left is killed."""
    yield Highwater(str(tmp_path))
    for pid, _ in left_behind(str(tmp_path)):
        os.kill(pid, signal.SIGKILL)
