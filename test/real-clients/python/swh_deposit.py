"""swh deposit, the command-line client of Software Heritage, and swh.model, which computes its identifiers."""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from checks import Account, check, equal, run_checks
from files import pack, write_entry, write_tree
from swh.model.from_disk import Directory
from swh.model.swhids import CoreSWHID, ObjectType, QualifiedSWHID

account = Account()
folder = Path(mkdtemp())
tree = write_tree(folder)
archive = pack(tree, folder / "tree.tar.gz")
entry = write_entry(folder / "entry.xml", "swh-deposit")


def run(command: str, *args: object, password: str = account.password) -> subprocess.CompletedProcess[str]:
    program = "import sys; from swh.core.cli import main; sys.exit(main())"
    access = ["--url", f"{account.url}/1", "--username", account.name, "--password", password]
    line = [sys.executable, "-c", program, "deposit", command, *access, *map(str, args), "--format", "json"]
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def swh(command: str, *args: object) -> dict:
    """Runs a command of the client; returns what it prints as JSON."""
    ran = run(command, *args)
    try:
        return json.loads(ran.stdout)
    except json.JSONDecodeError:
        raise AssertionError(f"{command} ended with {ran.returncode}: {ran.stdout}{ran.stderr}") from None


def directory_of(tree: Path) -> CoreSWHID:
    directory = Directory.from_disk(path=bytes(tree), max_content_length=None)
    return CoreSWHID(object_type=ObjectType.DIRECTORY, object_id=directory.hash)


def upload(*args: object) -> dict:
    return swh("upload", "--collection", account.collection, *args)


def finished(deposit_id: object) -> dict:
    """Polls the status as the documentation of the client says."""
    for _ in range(120):
        status = swh("status", "--deposit-id", deposit_id)
        if status["deposit_status"] in ("done", "rejected", "failed"):
            return status
        time.sleep(0.5)
    raise AssertionError(f"deposit {deposit_id} does not end: {status}")


@check("swh deposit uploads archive and metadata; swh.model computes the same directory")
def one_step() -> None:
    deposit = upload("--archive", archive, "--metadata", entry)
    equal(deposit["deposit_status"], "deposited")
    status = finished(deposit["deposit_id"])
    equal(status["deposit_status"], "done")
    directory = directory_of(tree)
    equal(status["deposit_swh_id"], str(directory))
    context = QualifiedSWHID.from_string(status["deposit_swh_id_context"])
    equal(context.object_id, directory.object_id)
    equal(context.anchor.object_type, ObjectType.REVISION)
    equal(context.visit.object_type, ObjectType.SNAPSHOT)


@check("swh deposit finds its collection in the service document")
def collection() -> None:
    deposit = swh("upload", "--archive", archive, "--metadata", entry)
    equal(deposit["deposit_status"], "deposited")


@check("swh deposit makes the metadata from --name and --author")
def generated() -> None:
    deposit = upload("--archive", archive, "--name", "generated", "--author", "Ada Lovelace")
    equal(finished(deposit["deposit_id"])["deposit_status"], "done")


@check("swh deposit uploads in parts, replaces the archive, and completes with the metadata")
def in_parts() -> None:
    other = write_tree(folder / "other", other__c="int other;\n")
    replaced = pack(other, folder / "other.tar.gz")
    deposit_id = upload("--archive", archive, "--partial", "--slug", "in-parts")["deposit_id"]
    equal(swh("status", "--deposit-id", deposit_id)["deposit_status"], "partial")
    upload("--archive", replaced, "--deposit-id", deposit_id, "--replace", "--partial")
    upload("--metadata", entry, "--deposit-id", deposit_id)
    status = finished(deposit_id)
    equal(status["deposit_status"], "done")
    equal(status["deposit_swh_id"], str(directory_of(other)))


@check("swh deposit adds metadata to a deposit that is done, and describes it in a deposit of its own")
def metadata() -> None:
    done = finished(upload("--archive", archive, "--metadata", entry)["deposit_id"])
    swhid = done["deposit_swh_id"]
    updated = upload("--metadata", entry, "--deposit-id", done["deposit_id"], "--swhid", swhid)
    equal(updated.get("error"), None)
    about = write_entry(folder / "about.xml", "about", swhid)
    equal(swh("metadata-only", "--metadata", about)["deposit_status"], "done")


@check("swh deposit reports why it was refused")
def refused() -> None:
    stranger = run("status", "--deposit-id", 1, password="wrong")
    equal(stranger.returncode, 1)
    equal("password" in stranger.stderr, True)
    equal(swh("status", "--deposit-id", 999999)["status"], 404)


@check("swh deposit lists the deposits")
def listed() -> None:
    page = swh("list")
    equal(len(page["deposits"]) >= 5, True)


run_checks()
