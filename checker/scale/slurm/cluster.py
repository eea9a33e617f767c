#!/usr/bin/env python3
"""A Slurm cluster of this machine alone, for as long as a command runs: cluster.py FOLDER COMMAND...

munged, slurmctld and slurmd run in the foreground on loopback as the user who calls, with everything they
write in FOLDER; SLURM_CONF tells the command where they are. They end with the command, and when this
program is killed. Needs Debian's packages slurmctld, slurmd, slurm-client and munge; the exit status is
the command's.
"""
import ctypes
import os
import pwd
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue")
START_S = 30
STOP_S = 10

CONF = """\
ClusterName=highwater
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
# A task that goes back to the queue waits until its credential has expired: 5 s are the least.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cores} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def die_with_parent():
    """In a child: end it when this program is gone, however that came about."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGTERM)


def lacking():
    """The programs that are not there."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    os.environ["PATH"] = path
    found = {name for folder in path.split(":") for name in PROGRAMS if (Path(folder) / name).exists()}
    return [name for name in PROGRAMS if name not in found]


def free_ports(count):
    """Ports of loopback that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def until(what, ready):
    """Wait for something; a cluster that does not come up says what was missing."""
    deadline = time.monotonic() + START_S
    while not ready():
        if time.monotonic() > deadline:
            sys.exit(f"cluster.py: {what} within {START_S} s")
        time.sleep(0.1)


class Cluster:
    """The three daemons."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = []

    def start(self):
        """Write the configuration and start the daemons, each once the one before serves."""
        for name in ("", "state", "spool"):
            (self.folder / name).mkdir(parents=True, exist_ok=True, mode=0o755)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(1024))
        controller_port, node_port = free_ports(2)
        conf = self.folder / "slurm.conf"
        conf.write_text(CONF.format(
            host=socket.gethostname().split(".")[0], folder=self.folder, user=pwd.getpwuid(os.getuid()).pw_name,
            controller_port=controller_port, node_port=node_port, cores=len(os.sched_getaffinity(0))))
        os.environ["SLURM_CONF"] = str(conf)
        # The folder may lie where others may write, as in /tmp: it is their choice who calls.
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}",
                    *(f"--{name}-file={self.folder}/munge.{name}" for name in ("pid", "log", "seed")),
                    f"--socket={self.folder}/munge.socket")
        until("munged does not serve", lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        self.daemon("slurmd", "-D")
        until("the node is not idle", lambda: self.said("sinfo", "--noheader", "--format=%t") == "idle")

    def daemon(self, name, *options):
        """Start one in the foreground."""
        with open(self.folder / f"{name}.out", "w") as out:
            self.daemons.append(subprocess.Popen([name, *options], stdin=subprocess.DEVNULL, stdout=out,
                                                 stderr=subprocess.STDOUT, preexec_fn=die_with_parent))

    def said(self, *command):
        """What a command of Slurm says; nothing while nobody answers."""
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    def stop(self):
        """End what still runs in the cluster, then the daemons."""
        if self.daemons:
            self.said("scancel", "--full", f"--user={os.getuid()}")
            deadline = time.monotonic() + STOP_S
            while self.said("squeue", "--noheader") and time.monotonic() < deadline:
                time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(STOP_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def main():
    """Run the command in a cluster of its own."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    missing = lacking()
    if missing:
        sys.exit(f"cluster.py: not installed: {', '.join(missing)}; apt-get install slurmctld slurmd slurm-client munge")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    cluster = Cluster(Path(sys.argv[1]).resolve())
    try:
        cluster.start()
        return subprocess.run(sys.argv[2:]).returncode
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main())
