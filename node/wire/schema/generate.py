"""Writes messages.txt, the table of field kinds that the length guard walks, from Kafka's schemas.

    python3 generate.py FOLDER > messages.txt

FOLDER holds Kafka's `common/message/*.json` (in the jar of kafka-clients). One line a message: what
it is, its first flexible version, its fields. A field is NAME:KIND with what sets it apart behind:
@FROM-TO the versions that have it, #TAG a tagged field. Kinds: 1 2 4 8 16 are that many bytes, str,
bytes, [KIND] an array, {FIELDS} a structure, ?{FIELDS} one that may be null.
"""
import json
import pathlib
import re
import sys

FIXED = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8,
         "float64": 8, "uuid": 16}
DATA = ["LeaderChangeMessage", "SnapshotHeaderRecord", "SnapshotFooterRecord", "KRaftVersionRecord",
        "VotersRecord"]


def load(path):
    """A schema; Kafka's JSON has comments."""
    return json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.M))


def kind(field, structs):
    """The kind of a field, with the fields of a structure spelled out."""
    name = field["type"]
    if name.startswith("[]"):
        return f"[{kind({**field, 'type': name[2:], 'nullableVersions': None}, structs)}]"
    if name in FIXED:
        return str(FIXED[name])
    if name == "string":
        return "str"
    if name in ("bytes", "records"):
        return "bytes"
    inner = field.get("fields") or structs[name]
    null = "?" if field.get("nullableVersions") and "tag" not in field else ""
    return f"{null}{{{fields(inner, structs)}}}"


def fields(listed, structs):
    """All fields of a structure, those with a tag last."""
    out = []
    for field in sorted(listed, key=lambda field: "tag" in field):
        versions = field["versions"]
        if versions == "none":
            continue
        text = re.sub(r"(?<!^)(?=[A-Z])", "_", field["name"]).lower() + ":" + kind(field, structs)
        if versions != "0+":
            text += "@" + versions.replace("+", "-")
        if "tag" in field:
            text += f"#{field['tag']}"
        out.append(text)
    return " ".join(out)


def line(schema, head):
    structs = {struct["name"]: struct["fields"] for struct in schema.get("commonStructs", [])}
    flexible = schema["flexibleVersions"].rstrip("+").replace("none", "-")
    return f"{head} {flexible} {fields(schema['fields'], structs)}".rstrip()


def main(folder):
    rows = []
    for path in pathlib.Path(folder).glob("*.json"):
        schema = load(path)
        if schema["type"] in ("request", "response") and schema["validVersions"] != "none":
            name = schema["name"].removesuffix("Request").removesuffix("Response")
            order = (schema["apiKey"], schema["type"])
            rows.append((order, line(schema, f"{schema['type']} {schema['apiKey']} {name}")))
        elif schema["name"] in DATA:
            order = (1 << 15, schema["name"])
            rows.append((order, line(schema, f"data - {schema['name']}")))
    print("\n".join(text for _, text in sorted(rows)))


main(sys.argv[1])
