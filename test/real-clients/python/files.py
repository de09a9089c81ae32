"""Archives and metadata that the clients deposit."""

import tarfile
from pathlib import Path

ENTRY = """<?xml version="1.0" encoding="utf-8"?>
<entry xmlns="http://www.w3.org/2005/Atom"
       xmlns:codemeta="https://doi.org/10.5063/SCHEMA/CODEMETA-2.0"
       xmlns:swh="https://www.softwareheritage.org/schema/2018/deposit">
  <title>{title}</title>
  <author><name>Ada Lovelace</name></author>
  <codemeta:name>{title}</codemeta:name>
  <codemeta:url>https://example.org/{title}</codemeta:url>
  <codemeta:author><codemeta:name>Ada Lovelace</codemeta:name></codemeta:author>
  {deposit}
</entry>
"""
REFERENCE = '<swh:deposit><swh:reference><swh:object swhid="{swhid}"/></swh:reference></swh:deposit>'


def write_tree(folder: Path, **files: str) -> Path:
    """Writes files below a new folder `tree`; `name__c` stands for `name.c`."""
    tree = folder / "tree"
    for name, text in {"main__c": "int main(void) { return 0; }\n", **files}.items():
        file = tree / name.replace("__", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tree / "run.sh").write_text("#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("main.c")
    return tree


def pack(tree: Path, archive: Path) -> Path:
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tree, arcname=".")
    return archive


def write_entry(file: Path, title: str, swhid: str | None = None) -> Path:
    deposit = "" if swhid is None else REFERENCE.format(swhid=swhid)
    file.write_text(ENTRY.format(title=title, deposit=deposit))
    return file
