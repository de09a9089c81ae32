"""tuspy, a client of tus: an archive comes in chunks with checksums, is gone on with, and deposited."""

import io
import os
import time
from pathlib import Path
from tempfile import mkdtemp

import requests
from checks import Account, check, equal, run_checks
from files import pack, write_entry, write_tree
from tusclient.client import TusClient

account = Account()
folder = Path(mkdtemp())
tree = write_tree(folder)
(tree / "random").write_bytes(os.urandom(300_000))
archive = pack(tree, folder / "tree.tar.gz")
NAMED = {"filename": "tree.tar.gz", "filetype": "application/gzip"}
ENTRY_TYPE = "application/atom+xml;type=entry"


def ask(method: str, target: str, body: bytes | None = None, **headers: str) -> dict:
    given = {"Authorization": account.authorization, "Accept": "application/json", **headers}
    named = {name.replace("_", "-"): value for name, value in given.items()}
    answer = requests.request(method, f"{account.url}{target}", data=body, headers=named, timeout=60)
    if not answer.ok:
        raise AssertionError(f"{method} {target}: {answer.status_code} {answer.text}")
    return answer.json()


def deposit(upload: str, title: str) -> dict:
    """Deposits an upload that is whole, completes with metadata, and waits for the end."""
    receipt = ask("POST", f"/1/{account.collection}/", Upload=upload, In_Progress="true")
    deposit_id = receipt["deposit_id"]
    entry = write_entry(folder / "entry.xml", title).read_bytes()
    target = f"/1/{account.collection}/{deposit_id}"
    ask("POST", f"{target}/metadata/", entry, Content_Type=ENTRY_TYPE, In_Progress="false")
    for _ in range(120):
        shown = ask("GET", f"{target}/status/")
        if shown["deposit_status"] in ("done", "rejected", "failed"):
            return shown
        time.sleep(0.5)
    raise AssertionError(f"deposit {deposit_id} does not end: {shown}")


def client() -> TusClient:
    endpoint = f"{account.url}/1/{account.collection}/uploads/"
    return TusClient(endpoint, headers={"Authorization": account.authorization})


@check("tuspy sends an archive in chunks with checksums; it is deposited")
def in_pieces() -> None:
    uploader = client().uploader(
        file_path=str(archive),
        chunk_size=100_000,
        metadata=NAMED,
        upload_checksum=True,
    )
    uploader.upload()
    equal(uploader.offset, archive.stat().st_size)
    equal(deposit(uploader.url, "tuspy")["deposit_status"], "done")


@check("tuspy goes on with an upload where it was left")
def gone_on_with() -> None:
    first = client().uploader(file_path=str(archive), chunk_size=100_000, metadata=NAMED)
    first.upload(stop_at=200_000)
    again = client().uploader(file_stream=io.BytesIO(archive.read_bytes()), url=first.url, chunk_size=100_000)
    equal(again.offset, 200_000)
    again.upload()
    equal(deposit(first.url, "tuspy-again")["deposit_status"], "done")


run_checks()
