"""What the tests of several processes share: the checker, and a small history with a lost record in it."""
import json
import os
import subprocess

from conftest import BIN, ROOT

CHECK = os.path.join(os.path.dirname(BIN), "highwater-check")
SCALE = os.path.join(ROOT, "checker", "scale")
KEYS = 20
SENDS = 4000


def check(*args, **options):
    """One run of `highwater-check`."""
    return subprocess.run([CHECK, *map(str, args)], capture_output=True, timeout=120, **options)


def write_history(file):
    """Sends to all keys in turn, then a poll of everything; one acknowledged record is not there."""
    events = []

    def event(process, kind, f, value):
        at = len(events)
        events.append({"index": at, "time": at * 1000, "process": process, "type": kind, "f": f, "value": [value]})

    for value in range(SENDS):
        key, offset = f"t-{value % KEYS}", value // KEYS
        event(value % 5, "invoke", "send", ["send", key, value])
        event(value % 5, "ok", "send", ["send", key, [offset, value]])
    read = {f"t-{key}": [[value // KEYS, value] for value in range(key, SENDS, KEYS)] for key in range(KEYS)}
    del read["t-7"][10]
    event(9, "invoke", "poll", ["poll"])
    event(9, "ok", "poll", ["poll", read])
    with open(file, "w") as out:
        out.writelines(json.dumps(one) + "\n" for one in events)
