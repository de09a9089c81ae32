"""The objects that deposits name, and the identifiers that follow from them: docs/auditing.md, Formats, Objects."""

import hashlib, re, sqlite3
from pathlib import Path

from identifiers import identifiers


def check_deposits(events, folder, check):
    deposits, store = {}, Store(folder, check)
    for event in events:
        if event["stream"].startswith("deposit-"):
            deposits.setdefault(event["stream"], []).append(event)
    for stream, of_deposit in deposits.items():
        try:
            check_deposit(of_deposit, store, check)
        except Exception as error:  # an archive that is not what it was
            check(False, stream, f"cannot be computed again: {error!r}")
    return len(deposits)


def check_deposit(events, store, check):
    archives, count = {}, 0  # by number, in the order in which they are merged
    for event in events:
        where, type, data = f"{event['stream']} revision {event['revision']}", event["type"], event["data"]
        if type in ("ArchivesReplaced", "ArchivesRemoved"):
            archives.clear()
        if type in ("ArchiveAdded", "ArchivesReplaced"):
            count += 1
        if type in ("ArchiveAdded", "ArchivesReplaced", "ArchiveReplaced"):
            archive = data["archive"]
            archives[data.get("number", count)] = archive["sha256"]
            store.check(where, archive["sha256"], archive["length"], archive["md5"])
        if type == "ArchiveRemoved":
            del archives[data["number"]]
        if type in ("MetadataAdded", "MetadataReplaced", "MetadataUpdated"):
            store.check(where, data["entry"]["sha256"], data["entry"]["length"])
        if type == "DepositVerified":
            for reading in data["readings"]:
                store.check(where, reading["listing"])
            read = [reading["archive"] for reading in data["readings"]]
            check(read == [*archives.values()], where, "is about other archives than the deposit has")
        if type == "DepositLoaded":
            check(data["archives"] == [*archives.values()], where, "is about other archives than the deposit has")
            store.check(where, data["manifest"])
            contents = [store.get(digest) for digest in archives.values()]
            computed = {} if None in contents else identifiers(contents, events[0]["data"], data)
            for name, found in computed.items():
                check(data[name] == found, where, f"names the {name} {data[name]}, not {found}")


class Store:
    def __init__(self, folder, check):
        self.folder, self.tell, small = Path(folder), check, Path(folder, "small.sqlite")
        self.small = open_database(small) if small.exists() else None

    def get(self, digest):
        if not re.fullmatch("[0-9a-f]{64}", digest):
            return None  # a log may name any path
        query = "SELECT bytes FROM small_object WHERE sha256 = ?"
        row = self.small.execute(query, [digest]).fetchone() if self.small else None
        file = self.folder / "v1" / "sha256" / digest[:2] / digest[2:4] / digest
        return row[0] if row else file.read_bytes() if file.exists() else None

    def check(self, where, digest, length=None, md5=None):
        data = self.get(digest)
        if data is None:
            return self.tell(False, where, f"needs the object {digest}, which is missing")
        needs = f"needs the object {digest}, whose"
        self.tell(hashlib.sha256(data).hexdigest() == digest, where, f"{needs} bytes are others")
        self.tell(length in (None, len(data)), where, f"{needs} length is {len(data)}, not {length}")
        self.tell(md5 in (None, hashlib.md5(data).hexdigest()), where, f"{needs} MD5 is not {md5}")


def open_database(file):
    """Without a WAL beside it nothing need be written there, not even a lock."""
    file = Path(file).resolve()
    if has_bytes(f"{file}-journal"):
        text = f"is not of the service, and SQLite would write it into {file}: move it to another folder"
        raise ValueError(f"{file}-journal {text}")
    mode = "mode=ro" if has_bytes(f"{file}-wal") else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{file.as_uri()}?{mode}", uri=True)
    try:
        database.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        remedy = "Let the service stop cleanly, or copy the folder and read the copy"
        raise ValueError(f"{file} cannot be read: {error}. {remedy}")
    return database


def has_bytes(file):
    return Path(file).exists() and Path(file).stat().st_size > 0
