"""Real clients and tools against three nodes: shares the cluster control of ../conformance."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
from lib import fixtures  # noqa: E402
from lib.fixtures import cluster  # noqa: E402,F401


def pytest_addoption(parser):
    fixtures.add_options(parser)


def pytest_configure(config):
    fixtures.add_markers(config)


def pytest_collection_modifyitems(items):
    fixtures.bound_tests(items)


def pytest_runtest_logreport(report):
    fixtures.note_outcome(report)


def pytest_unconfigure(config):
    fixtures.stop_cluster()
