"""The manifests of checker/scale/kubernetes: valid by the Kubernetes schema, and their commands run."""
import os

import pytest
from scale import CHECK, SCALE, check, write_history

validate = pytest.importorskip("kubernetes_validate", reason="no PyPI package kubernetes-validate; .ci/setup python")
yaml = pytest.importorskip("yaml")

FOLDER = os.path.join(SCALE, "kubernetes")


def manifest(name):
    """A manifest as data."""
    with open(os.path.join(FOLDER, name)) as text:
        return yaml.safe_load(text)


def args_of(job):
    """The arguments of the job's only container."""
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert "command" not in container, "the image's entry point is the program"
    return container["args"]


@pytest.mark.parametrize("name", ["parts.yaml", "merge.yaml"])
def test_a_manifest_follows_the_schema(name):
    validate.validate(manifest(name), validate.latest_version(), strict=True)


def test_the_schema_refuses_what_is_none():
    job = manifest("parts.yaml")
    job["spec"]["completions"] = "8"
    with pytest.raises(validate.ValidationError):
        validate.validate(job, validate.latest_version(), strict=True)


def test_there_are_as_many_pods_as_parts():
    spec = manifest("parts.yaml")["spec"]
    assert spec["completionMode"] == "Indexed"
    assert args_of(manifest("parts.yaml"))[2] == f"$(JOB_COMPLETION_INDEX)/{spec['completions']}"


def test_the_commands_give_the_verdict_of_one_process(tmp_path):
    """Each pod's command as Kubernetes expands it, with the volumes in a folder."""
    for folder in ("history", "parts"):
        (tmp_path / folder).mkdir()
    write_history(tmp_path / "history" / "history.jsonl")
    parts = manifest("parts.yaml")
    mounts = [mount["mountPath"] for mount in parts["spec"]["template"]["spec"]["containers"][0]["volumeMounts"]]

    def expand(arg, nth):
        inside = any(arg.startswith(mount + "/") for mount in mounts)
        path = f"{tmp_path}{arg}" if inside else arg
        return path.replace("$(JOB_COMPLETION_INDEX)", str(nth)).replace("history.jsonl.zst", "history.jsonl")

    for nth in range(parts["spec"]["completions"]):
        judged = check(*(expand(arg, nth) for arg in args_of(parts)))
        assert judged.returncode == 0, judged.stderr
    merged = check(*(expand(arg, 0) for arg in args_of(manifest("merge.yaml"))))
    one = check(tmp_path / "history" / "history.jsonl", "--json")
    assert one.returncode == 1 and b'"lost-write":1' in one.stdout
    assert (merged.returncode, merged.stdout) == (one.returncode, one.stdout), merged.stderr


def test_the_image_holds_the_program_that_the_manifests_start():
    with open(os.path.join(FOLDER, "Containerfile")) as text:
        lines = text.read().splitlines()
    name = os.path.basename(CHECK)
    assert lines[-1] == f'ENTRYPOINT ["{name}"]'
    assert f"COPY --from=build /src/target/release/{name} /usr/local/bin/{name}" in lines
