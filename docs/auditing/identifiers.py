"""The identifiers of a deposit, from the bytes of its archives: docs/auditing.md, Formats, Identifiers.

  python3 identifiers.py ARCHIVE...     tells the directory that these archives give, laid over one another
"""

import hashlib, io, sys, tarfile, zipfile
from pathlib import Path


def directory_of(archives):
    root = {}
    for archive in archives:
        is_zip = archive[:4] in (b"PK\3\4", b"PK\5\6")  # a tar begins with a name, which may be PKGBUILD
        for path, leaf in members_of_zip(archive) if is_zip else members_of_tar(archive):
            place(root, path, leaf)
    return directory_id(root)


def identifiers(archives, created, loaded):
    """Created and loaded are the data of DepositCreated and DepositLoaded."""
    directory = directory_of(archives)
    author, committer = (f"{loaded['identity']} {date['seconds']} {date['offset']}"
                         for date in (loaded["authorDate"], loaded["committerDate"]))
    message = f"{created['client']}: Deposit {created['depositId']} in collection {created['collection']}"
    lines = f"tree {directory.hex()}\nauthor {author}\ncommitter {committer}\n\n{message}"
    revision = object_id("commit", lines.encode())
    snapshot = object_id("snapshot", b"revision HEAD\0" + b"20:" + revision)
    return {"directory": directory.hex(), "revision": revision.hex(), "snapshot": snapshot.hex()}


def members_of_zip(archive):
    """Paths as tuples of names, each with [mode, id], or None for a directory."""
    opened = zipfile.ZipFile(io.BytesIO(archive))
    for entry in opened.infolist():
        leaf = None if entry.is_dir() else [b"100644", object_id("blob", opened.read(entry))]
        yield clean(entry.filename.encode()), leaf


def members_of_tar(archive):
    opened = tarfile.open(fileobj=io.BytesIO(archive), encoding="utf-8", errors="surrogateescape")
    leaves = {}
    for member in opened:
        name, linked = (member.pax_headers.get(pax, other)  # of both, a pax header counts before a GNU long name
                        for pax, other in (("path", member.name), ("linkpath", member.linkname)))
        path, target = (clean(text.encode("utf-8", "surrogateescape")) for text in (name, linked))
        mode, leaf = b"100755" if member.mode & 0o100 else b"100644", None
        if member.issym():
            leaf = [b"120000", object_id("blob", linked.encode("utf-8", "surrogateescape"))]
        elif member.islnk():  # the names of one file share the list, and so its mode
            leaf = leaves[target]
            leaf[0] = leaf[0] if leaf[0] == b"120000" else mode
        elif not member.isdir() and not name.endswith("/"):  # GNU tar takes such a file for a directory
            leaf = [mode, object_id("blob", opened.extractfile(member).read())]
        leaves[path] = leaf
        yield path, leaf


def clean(name):
    return tuple(segment for segment in name.split(b"/") if segment not in (b"", b"."))


def place(directory, path, leaf):
    for name in path if leaf is None else path[:-1]:
        directory = directory.setdefault(name, {})
    if leaf is not None:
        directory[path[-1]] = leaf


def directory_id(directory):
    entries = {}
    for name, entry in directory.items():
        if isinstance(entry, dict):
            entries[name + b"/"] = b"40000 " + name + b"\0" + directory_id(entry)
        else:
            entries[name] = entry[0] + b" " + name + b"\0" + entry[1]
    return object_id("tree", b"".join(entries[key] for key in sorted(entries)))


def object_id(type, body):
    return hashlib.sha1(f"{type} {len(body)}\0".encode() + body).digest()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: identifiers.py ARCHIVE...")
    try:
        print(f"swh:1:dir:{directory_of([Path(file).read_bytes() for file in sys.argv[1:]]).hex()}")
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
