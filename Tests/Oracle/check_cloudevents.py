"""Compares CloudEvents that logreplay exports and imports with the CloudEvents SDK for Python.

Random events go into a store, out as CloudEvents, through the SDK, which checks each and writes it again, and into a
second store: the events there must be those of the first one, up to the microseconds that the SDK has. Then CloudEvents
that the SDK made are imported, alone and as a batch.

    check_cloudevents.py --logreplay PROGRAM [--seed N] [--count N]
"""
import argparse, base64, datetime, json, os, random, string, subprocess, tempfile

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent


def run(*arguments):
    result = subprocess.run([options.logreplay, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, (arguments, result)
    return result.stdout


def text(alphabet="aZ09 .é\"\\🙂\u2028/", least=1):
    return "".join(random.choice(alphabet) for _ in range(random.randint(least, 9)))


def value(depth=3):
    kind = random.randrange(8 if depth else 6)
    if kind == 0: return None
    if kind == 1: return random.choice([True, False])
    if kind == 2: return random.choice([0, -1, 2**53 + 1, 2**63, -(2**63), 10**30])
    if kind == 3: return random.choice([0.1, -0.0, 1e300, 5e-324, 1.5])
    if kind in (4, 5): return text(alphabet="a\n\0\x7f\"é🙂", least=0)
    if kind == 6: return [value(depth - 1) for _ in range(random.randrange(4))]
    return {text(least=0): value(depth - 1) for _ in range(random.randrange(4))}


def written_event():
    """An event as a line made by hand."""
    event = {"stream": text(), "type": text()}
    while event["stream"].startswith("$"): event["stream"] = text()
    kind = random.randrange(4)
    # The SDK takes data of null for no data.
    if kind == 0: event["data"] = value() or {}
    if kind == 1: event.update(codec="bytes", base64=base64.b64encode(os.urandom(random.randrange(9))).decode())
    if kind == 2: event.update(codec="json", base64=base64.b64encode(json.dumps(value()).encode()).decode())
    if random.random() < 0.7:
        event["metadata"] = {
            random.choice(["by", "n1", "id", "source", "subject", "Odd", "é", "toolong" * 4]):
                random.choice(["x", "", "\x7f", 1, 2**31, 2**70, True, None, [1], {"a": 1.5}]) for _ in range(3)}
    micros = random.randrange(4 * 10**15)
    event["time"] = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)).isoformat(
        timespec="microseconds") + "Z"
    return event


def comparable(store):
    """The events of a store, without their positions."""
    events = []
    for line in run("export", store, "-", "--events").split("\n")[1:-2]:
        event = json.loads(line)
        for name in ("sequence", "append", "id", "committed", "chain", "revision"): event.pop(name, None)
        events.append(json.dumps(event, sort_keys=True))
    return events


def through_the_sdk(folder):
    with open(f"{folder}/hand.jsonl", "w") as file:
        for _ in range(options.count): file.write(json.dumps(written_event()) + "\n")
    run("import", f"{folder}/first", f"{folder}/hand.jsonl", "--events")
    run("export", f"{folder}/first", f"{folder}/out.jsonl", "--events", "--format", "cloudevents", "--source", "/a?b=c")
    form = JSONFormat()
    with open(f"{folder}/out.jsonl") as lines, open(f"{folder}/again.jsonl", "wb") as again:
        for line in lines: again.write(form.write(form.read(CloudEvent, line)) + b"\n")
    run("import", f"{folder}/second", f"{folder}/again.jsonl", "--format", "cloudevents", "--time-slack", "999999h")
    first, second = comparable(f"{folder}/first"), comparable(f"{folder}/second")
    assert len(first) == len(second) == options.count, (len(first), len(second))
    for one, other in zip(first, second): assert one == other, (one, other)
    print(len(first), "events through the SDK")


def of_the_sdk(folder):
    form, lines, expected = JSONFormat(), [], []
    for number in range(options.count):
        attributes = {"id": f"{number} {text()}", "source": random.choice(["/a", "urn:x:y", "https://e.com/%20"]),
                      "type": text(), "specversion": "1.0"}
        if random.random() < 0.5: attributes["subject"] = text()
        for _ in range(random.randrange(3)):
            name = "x" + "".join(random.choice(string.ascii_lowercase + string.digits) for _ in range(5))
            attributes[name] = random.choice(["v", 7, False])
        data = random.choice([{"a": value()}, b"\0\xff", "text", None])
        if isinstance(data, bytes): attributes["datacontenttype"] = "image/png"
        if isinstance(data, str): attributes["datacontenttype"] = "text/plain"
        lines.append(form.write(CloudEvent(dict(attributes), data)).decode())
        metadata = {name: attributes[name] for name in attributes if name not in ("type", "specversion", "time")}
        expected.append((attributes["type"], data, metadata))
    with open(f"{folder}/sdk.jsonl", "w") as file: file.write("\n".join(lines) + "\n")
    with open(f"{folder}/sdk.json", "w") as file: file.write("[" + ",\n".join(lines) + "]")
    report = json.loads(run("import", f"{folder}/third", f"{folder}/sdk.json", "--format", "cloudevents", "-o", "json"))
    assert report["appended"] == options.count, report
    report = json.loads(run("import", f"{folder}/third", f"{folder}/sdk.jsonl", "--format", "cloudevents", "-o", "json"))
    assert report["appended"] == 0 and report["known"] == options.count, report
    found = [json.loads(line) for line in run("export", f"{folder}/third", "-", "--events").split("\n")[1:-2]]
    for event, (type, data, metadata) in zip(found, expected):
        payload = base64.b64decode(event["base64"]) if "base64" in event else event.get("data")
        assert (event["type"], payload, event["metadata"]) == (type, data, metadata), (event, type, data, metadata)
    print(len(found), "events of the SDK")


parser = argparse.ArgumentParser()
parser.add_argument("--logreplay", required=True)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--count", type=int, default=2000)
options = parser.parse_args()
random.seed(options.seed)
with tempfile.TemporaryDirectory() as folder:
    through_the_sdk(folder)
    of_the_sdk(folder)
