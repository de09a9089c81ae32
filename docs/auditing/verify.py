#!/usr/bin/env python3
"""Proves history and bytes without the code of the service: docs/auditing.md, Formats, in Python.

  python3 verify.py LOG [--archives FOLDER] [--anchors FILE] [--key PUBLIC.pem]...

LOG is the event-log.sqlite of a stopped service, a copy of it, or an export. FOLDER is that of the archives, or a
mirror of the bucket. The log and the archives of one deposit are read into memory. Needs Python 3.9 and, for anchors,
the command openssl (3.0). Exit codes: 0 all proven, 1 something was found or could not be read, 2 wrong usage.
"""

import argparse, base64, hashlib, json, subprocess, sys, tempfile, uuid
from pathlib import Path

from deposits import check_deposits, open_database

findings = []


def check(fits, where, what):
    if not fits:
        findings.append(f"{where}: {what}")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # half of a surrogate pair stays an escape


def parsed(text, where):
    try:
        return json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        raise ValueError(f"{where} is not JSON: {error}")


def unique(pairs):
    """Of a key that stands twice, readers take different ones."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"one of the keys {[key for key, _ in pairs]} stands twice")
    return dict(pairs)


def is_redacted(event):
    """Whether an export for auditors has null in the place of a secret."""
    return any(event["data"].get(name, "") is None for name in ("credential", "secret"))


def without(key, object):
    return {name: value for name, value in object.items() if name != key}


# The log: the events in the order of all, and the last line of an export


def events_of_database(file):
    database = open_database(file)
    streams = dict(database.execute("SELECT id, name FROM streams"))
    rows = database.execute("SELECT position, stream, revision, id, type, data, metadata FROM events ORDER BY position")
    for number, (position, stream, revision, id, type, data, metadata) in enumerate(rows, 1):
        check(position == number, f"position {position:016x}", f"is where {number:016x} is expected")
        yield {"stream": streams[stream], "revision": revision, "id": str(uuid.UUID(bytes=id)), "type": type,
               "data": parsed(data, f"position {number:016x}"), "metadata": parsed(metadata, f"position {number:016x}")}


def lines_of_export(file):
    *lines, rest = Path(file).read_bytes().split(b"\n")
    check(rest == b"", "the last line", "has no end")
    for number, line in enumerate(lines, 1):
        value = parsed(line, f"line {number}")
        check(canonical(value) == line, f"line {number}", "is not written as exports are")
        yield value


def end_of_export(events):
    """Returns the last line, which is no event, without it the rest of the export."""
    has_end = len(events) > 0 and "export" in events[-1]
    check(has_end, "the last line", "is missing: the file was cut off, or is no export of this release")
    end = events.pop() if has_end else {}
    if "stream" in end or "from" in end:
        raise ValueError("the export is a part of a log, and only a whole one can be verified")
    for number, event in enumerate(events, 1):
        if set(event) != {"stream", "revision", "id", "type", "data", "metadata", "position"}:
            raise ValueError(f"line {number} has more or less than an event")
    check(end.get("events") in (len(events), None), "the last line",
          f"speaks of {end.get('events')} events, not of {len(events)}")
    positions = [event["position"] for event in events]
    check(positions == sorted(set(positions)), "the positions", "do not grow from line to line")
    return end


def check_chain(events, redacted):
    """Redacted is the number of lines whose contents do not give their hash, since secrets were taken out."""
    heads = {}
    found = [event for event in events if is_redacted(event)] if redacted is not None else []
    check(len(found) == (redacted or 0), "the last line", f"speaks of {redacted} lines without secrets, not {len(found)}")
    for event in events:
        where = f"{event['stream']} revision {event['revision']}"
        hashed = {name: event[name] for name in ("stream", "revision", "id", "type", "data")}
        hashed["metadata"] = without("hash", event["metadata"])
        own, before = event["metadata"].get("hash"), event["metadata"].get("prevHash")
        revision, head = heads.get(event["stream"], (-1, None))
        fits = sha256(canonical(hashed)) == own or (redacted is not None and is_redacted(event))
        check(fits, where, "does not carry the hash of its contents")
        check(event["revision"] == revision + 1, where, f"stands behind revision {revision}")
        check(before == head, where, "does not name the event before it in its stream")
        heads[event["stream"]] = event["revision"], own


# Anchors: each signed and naming the one before it, and the root over the log as it was then


def anchors_of_file(file):
    lines = Path(file).read_bytes().splitlines()
    check(lines != [], file, "has no anchor")
    return [parsed(line, f"line {number} of {file}") for number, line in enumerate(lines, 1)]


def uncovered(events, anchors):
    """Returns the number of events after the last anchor stored elsewhere, without anchors themselves."""
    last = max(anchor["events"] for anchor in anchors)
    return sum(event["stream"] != "anchors" for event in events[last:])


def check_anchors(anchors, place, keys, may_begin_later):
    before = None
    for anchor in anchors:
        where = f"the anchor over {anchor['events']} events in {place}"
        key, digest = base64.b64decode(anchor["publicKey"]), sha256(canonical(anchor))
        if digest == before:
            continue
        check(not keys or key in keys, where, f"is signed with another key, {sha256(key)}")
        check(is_signed(anchor, key), where, "does not carry a signature of its contents")
        follows = anchor["previous"] == before or (may_begin_later and before is None)
        check(follows, where, "does not follow the one before it")
        before = digest


def is_signed(anchor, key):
    with tempfile.TemporaryDirectory() as folder:
        contents = {"key": key, "signature": base64.b64decode(anchor["signature"]),
                    "statement": canonical(without("signature", anchor))}
        for name, content in contents.items():
            Path(folder, name).write_bytes(content)
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in statement -sigfile signature"
        return subprocess.run(command.split(), cwd=folder, capture_output=True).returncode == 0


def check_roots(events, expected_roots):
    """Told are, by number of events, roots with who tells them."""
    subtrees = []  # the roots of the full ones, as the bits that are set in the number of events
    for number, event in enumerate(events, 1):
        leaf = canonical([event["stream"], event["revision"], event["metadata"].get("hash")])
        node, carry = hashlib.sha256(b"\0" + leaf).digest(), number
        while carry % 2 == 0:
            node, carry = hashlib.sha256(b"\1" + subtrees.pop() + node).digest(), carry // 2
        subtrees.append(node)
        for root, where in expected_roots.pop(number, []):
            check(root_over(subtrees) == root, where, "does not hold")
    for where in [where for unmatched in expected_roots.values() for _, where in unmatched]:
        check(False, where, f"does not hold: there are only {len(events)} events")


def root_over(subtrees):
    node = subtrees[-1]
    for subtree in reversed(subtrees[:-1]):
        node = hashlib.sha256(b"\1" + subtree + node).digest()
    return node.hex()


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("log")
    usage.add_argument("--archives")
    usage.add_argument("--anchors")
    usage.add_argument("--key", action="append", default=[])
    options = usage.parse_args()
    if options.anchors and not options.key:
        usage.error("anchors prove nothing without a --key that was kept elsewhere")
    left = [] if options.archives else ["objects and identifiers, without --archives"]
    left += [] if options.anchors else ["anchors stored elsewhere, without --anchors"]
    try:
        left += verify(options)
    except OSError as error:
        check(False, error.filename, error.strerror)
    except Exception as error:  # what is written by nobody who keeps to the formats
        check(False, "this cannot be read", error if type(error) is ValueError else repr(error))
    for finding in findings:
        print(finding)
    proven = "All proven." + (f" Not compared: {'; '.join(left)}." if left else "")
    print(f"NOT PROVEN. Findings: {len(findings)}." if findings else proven)
    sys.exit(1 if findings else 0)


def verify(options):
    """Returns what could not be compared, besides what the options leave out."""
    if options.archives and not any(Path(options.archives, name).exists() for name in ("v1", "small.sqlite")):
        raise ValueError(f"{options.archives} is not the folder of the archives: it has neither v1 nor small.sqlite")
    with open(options.log, "rb") as file:
        is_database = file.read(16) == b"SQLite format 3\0"
    events = list(events_of_database(options.log) if is_database else lines_of_export(options.log))
    expected_roots, redacted = {}, None
    if not is_database:
        end = end_of_export(events)
        if end:
            expected_roots[end["events"]] = [(end["root"], "the last line")]
        redacted = end.get("redacted")
    check_chain(events, redacted)
    keys = [base64.b64decode(Path(key).read_text().split("-----")[2]) for key in options.key]
    of_log = [event["data"] for event in events if event["stream"] == "anchors"]
    of_file = anchors_of_file(options.anchors) if options.anchors else []
    for place, anchors in ("the log", of_log), ("FILE", of_file):
        check_anchors(anchors, place, keys, may_begin_later=place == "FILE")
        for anchor in anchors:
            where = f"the anchor over {anchor['events']} events in {place}"
            expected_roots.setdefault(anchor["events"], []).append((anchor["root"], where))
    check_roots(events, expected_roots)
    deposits = f", {check_deposits(events, options.archives, check)} deposits" if options.archives else ""
    print(f"Read {len(events)} events, {len(of_log)} anchors in the log, {len(of_file)} in FILE{deposits}.")
    if redacted is not None:
        print(f"Hash not recomputable, since the export is without secrets: {redacted} of these events.")
    later = uncovered(events, of_file) if of_file else 0
    return [f"events after the last anchor in FILE: {later}"] if later else []


if __name__ == "__main__":
    main()
