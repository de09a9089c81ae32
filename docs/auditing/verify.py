#!/usr/bin/env python3
"""Proves history and bytes without the code of the service: docs/auditing.md, Formats, in Python.

  python3 verify.py LOG [--archives FOLDER] [--anchors FILE] [--key PUBLIC.pem]...

LOG is the event-log.sqlite of a stopped service, a copy of it, or an export. FOLDER is that of the archives, or a
mirror of the bucket. The log and the archives of one deposit are read into memory. Needs Python 3.9 and, for anchors,
the command openssl (3.0). Exit codes: 0 all proven, 1 something was found or could not be read, 2 wrong usage.
"""

import argparse, base64, contextlib, functools, hashlib, json, re, subprocess, sys, tempfile, time, uuid
from pathlib import Path

from deposits import check_deposits, open_database

EVENT = {"stream": [str], "revision": [int], "id": [str], "type": [str], "data": [dict], "metadata": [dict]}
ANCHOR = {"anchor": [int], "events": [int], "madeAt": [str], "previous": [str, type(None)], "publicKey": [str],
          "root": [str], "signature": [str]}
# The last line of an export. Its other members than the first three are optional.
END = {"export": int, "events": int, "root": str, "redacted": int, "stream": str, "from": str}
# What an export for auditors has as null: the member of data, and a pattern of the stream, by the type of the event.
SECRETS = {"ClientRegistered": ("credential", "client-.*"), "CredentialChanged": ("credential", "client-.*"),
           "WebhookSet": ("secret", "client-.*"), "ViewSnapshotStored": ("secret", "view-snapshots")}

findings, not_compared = [], []


def check(fits, where, what):
    if not fits:
        findings.append(f"{where}: {what}")


@contextlib.contextmanager
def reported(where):
    """Reports what cannot be read, so that the rest is read nevertheless."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:  # such as a member that is missing
        check(False, where, error if type(error) is ValueError else f"cannot be read: {error!r}")


def printable(text):
    """Returns the text with each character that a terminal would execute, or not show, as an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(text))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # half of a surrogate pair stays an escape


def parsed(text):
    try:
        value = json.loads(text.decode(), object_pairs_hook=unique)
        canonical(value)  # refuses numbers that JSON does not have
        return value
    except ValueError as error:
        raise ValueError(f"is not JSON: {error}")


def unique(pairs):
    """Of a key that stands twice, readers take different ones."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"one of the keys {[key for key, _ in pairs]} stands twice")
    return dict(pairs)


def shaped(value, what, shape):
    """Returns the value if it has the members of the shape, and no others."""
    if type(value) is not dict or set(value) != set(shape):
        raise ValueError(f"has more or less than {what}")
    for name, types in shape.items():
        if type(value[name]) not in types:
            raise ValueError(f"is not {what}: its {name} is {value[name]!r:.40}")
    return value


def is_redacted(event):
    """Whether an export for auditors has null in the place of a secret, which only a few types of events have."""
    secret, stream = SECRETS.get(event["type"], (None, ""))
    return secret in event["data"] and event["data"][secret] is None and re.fullmatch(stream, event["stream"])


def without(key, object):
    return {name: value for name, value in object.items() if name != key}


# The log: the events in the order of all, and the last line of an export


def events_of_database(file):
    database = open_database(file)
    database.text_factory = bytes  # a text that is not UTF-8 is a finding, and not the end
    streams = dict(database.execute("SELECT id, name FROM streams"))
    rows = database.execute("SELECT position, stream, revision, id, type, data, metadata FROM events ORDER BY position")
    for number, (position, stream, revision, id, type, data, metadata) in enumerate(rows, 1):
        check(position == number, f"position {position:016x}", f"is where {number:016x} is expected")
        with reported(f"position {number:016x}"):
            yield shaped({"stream": streams[stream].decode(), "revision": revision, "id": str(uuid.UUID(bytes=id)),
                          "type": type.decode(), "data": parsed(data), "metadata": parsed(metadata)}, "an event", EVENT)


def events_of_export(file):
    """Returns the events and the last line, which is no event."""
    *lines, rest = Path(file).read_bytes().split(b"\n")
    check(rest == b"", "the last line", "has no end")
    values = []
    for number, line in enumerate(lines, 1):
        with reported(f"line {number}"):
            values.append((f"line {number}", parsed(line)))
            check(canonical(values[-1][1]) == line, f"line {number}", "is not written as exports are")
    end = values.pop()[1] if values and is_end(values[-1][1]) else {}
    check(end, "the last line", "is missing: the file was cut off, or is no export of this release")
    if "stream" in end or "from" in end:
        raise ValueError("the export is a part of a log, and only a whole one can be verified")
    count = len(lines) - 1
    check(end.get("events") in (count, None), "the last line", f"speaks of {end.get('events')} events, not of {count}")
    events = []
    for where, value in values:
        with reported(where):
            events.append(shaped(value, "an event", {**EVENT, "position": [str]}))
    positions = [event["position"] for event in events]
    check(positions == sorted(set(positions)), "the positions", "do not grow from line to line")
    return events, end


def is_end(value):
    return (type(value) is dict and value.get("export") == 1 and {"events", "root"} <= set(value) <= set(END)
            and all(type(member) is END[name] for name, member in value.items()))


def check_chain(events, redacted):
    """Redacted is the number of lines whose contents do not give their hash, since secrets were taken out."""
    heads = {}
    found = [event for event in events if is_redacted(event)] if redacted is not None else []
    check(len(found) == (redacted or 0), "the last line", f"speaks of {redacted} lines without secrets, not {len(found)}")
    if found:
        names = ", ".join(f"{event['stream']} revision {event['revision']}" for event in found)
        not_compared.append(f"the contents of lines without secrets, of which only the hash is known: {names}")
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
    *lines, rest = Path(file).read_bytes().split(b"\n")
    if rest and is_cut(rest):
        not_compared.append("the last line of FILE, which a crash cut off, or which is being written")
    elif rest:
        lines.append(rest)
    check(lines != [], file, "has no anchor")
    for number, line in enumerate(lines, 1):
        with reported(f"line {number} of {file}"):
            yield shaped(parsed(line), "an anchor", ANCHOR)


def is_cut(line):
    """Whether it is the beginning of an anchor, then zeros of a power cut."""
    start, text = b'{"anchor":1,"events":', line.rstrip(b"\0")
    is_whole = line.endswith(b"}") or b"\0" in text
    return not is_whole and (text.startswith(start) or start.startswith(text))


def anchors_of_log(events):
    for event in events:
        if event["stream"] == "anchors":
            with reported(f"anchors revision {event['revision']}"):
                yield shaped(event["data"], "an anchor", ANCHOR)


def keys_of(file):
    """Returns all keys of a PEM file."""
    block = "-----BEGIN PUBLIC KEY-----(.+?)-----END PUBLIC KEY-----"
    keys = [base64.b64decode(key) for key in re.findall(block, Path(file).read_text(), re.DOTALL)]
    if keys == []:
        raise ValueError(f"{file} has no public key in PEM")
    return keys


def uncovered(events, anchors):
    """Returns the number of events after the last anchor stored elsewhere, without anchors themselves."""
    last = max(anchor["events"] for anchor in anchors)
    return sum(event["stream"] != "anchors" for event in events[last:])


def check_anchors(anchors, place, keys, may_begin_later):
    before, reported_at = None, time.monotonic()
    for number, anchor in enumerate(anchors):
        if time.monotonic() > reported_at + 5:
            reported_at = time.monotonic()
            print(f"Verified {number} of {len(anchors)} anchors in {place}.", file=sys.stderr)
        where = f"the anchor over {anchor['events']} events in {place}"
        key, digest = decoded(anchor["publicKey"]), sha256(canonical(anchor))
        if digest == before:
            continue
        check(not keys or key in keys, where, f"is signed with another key, {sha256(key)}")
        is_valid = is_signed(canonical(without("signature", anchor)), decoded(anchor["signature"]), key)
        check(is_valid, where, "does not carry a signature of its contents")
        follows = anchor["previous"] == before or (may_begin_later and before is None)
        check(follows, where, "does not follow the one before it")
        before = digest


def decoded(text):
    """Returns bytes, of which a text that is no base64 has none."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""


@functools.cache  # the log and FILE have the same anchors
def is_signed(statement, signature, key):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in ("key", key), ("signature", signature), ("statement", statement):
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
    sys.stdout.reconfigure(errors="backslashreplace")  # names may have characters that the output cannot encode
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("log")
    usage.add_argument("--archives")
    usage.add_argument("--anchors")
    usage.add_argument("--key", action="append", default=[])
    options = usage.parse_args()
    if options.anchors and not options.key:
        usage.error("anchors prove nothing without a --key that was kept elsewhere")
    not_compared.extend([] if options.archives else ["objects and identifiers, without --archives"])
    not_compared.extend([] if options.anchors else ["anchors stored elsewhere, without --anchors"])
    try:
        verify(options)
    except OSError as error:
        check(False, error.filename, error.strerror)
    except Exception as error:  # such as a member that is missing
        check(False, "this cannot be read", error if type(error) is ValueError else repr(error))
    for finding in findings:
        print(printable(finding))
    left = f" Not compared: {'; '.join(not_compared)}." if not_compared else ""
    print(f"NOT PROVEN. Findings: {len(findings)}." if findings else printable(f"All proven.{left}"))
    sys.exit(1 if findings else 0)


def verify(options):
    if options.archives and not any(Path(options.archives, name).exists() for name in ("v1", "small.sqlite")):
        raise ValueError(f"{options.archives} is not the folder of the archives: it has neither v1 nor small.sqlite")
    with open(options.log, "rb") as file:
        is_database = file.read(16) == b"SQLite format 3\0"
    keys = [key for file in options.key for key in keys_of(file)]
    events, end = (list(events_of_database(options.log)), {}) if is_database else events_of_export(options.log)
    expected_roots = {end["events"]: [(end["root"], "the last line")]} if end else {}
    redacted = end.get("redacted")
    check_chain(events, redacted)
    of_log = list(anchors_of_log(events))
    of_file = list(anchors_of_file(options.anchors)) if options.anchors else []
    for place, anchors in ("the log", of_log), ("FILE", of_file):
        check_anchors(anchors, place, keys, may_begin_later=place == "FILE")
        for anchor in anchors:
            where = f"the anchor over {anchor['events']} events in {place}"
            check(place == "the log" or anchor in of_log, where, "is no longer in the log")
            expected_roots.setdefault(anchor["events"], []).append((anchor["root"], where))
    check_roots(events, expected_roots)
    deposits = f", {check_deposits(events, options.archives, check)} deposits" if options.archives else ""
    print(f"Read {len(events)} events, {len(of_log)} anchors in the log, {len(of_file)} in FILE{deposits}.")
    if redacted is not None:
        print(f"Hash not recomputable, since the export is without secrets: {redacted} of these events.")
    if of_file:
        later = uncovered(events, of_file)
        not_compared.append(f"events after the last anchor in FILE: {later}, and any that were cut off")


if __name__ == "__main__":
    main()
