"""A receiver of webhooks that verifies notifications with the library of the Standard Webhooks specification."""

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from tempfile import mkdtemp

import requests
from checks import Account, check, equal, run_checks
from files import pack, write_entry, write_tree
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

account = Account()
webhook = Webhook(os.environ["WEBHOOK_SECRET"])
folder = Path(mkdtemp())
received: Queue[tuple[bytes, dict[str, str]]] = Queue()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received.put((body, {name.lower(): value for name, value in self.headers.items()}))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def next_notification() -> tuple[bytes, dict[str, str]]:
    try:
        return received.get(timeout=60)
    except Empty:
        raise AssertionError("no notification within 60 s") from None


@check("standardwebhooks verifies each notification of a deposit, and no altered one")
def verified() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["WEBHOOK_PORT"])), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    archive = pack(write_tree(folder), folder / "tree.tar.gz")
    entry = write_entry(folder / "entry.xml", "webhook")
    answer = requests.post(
        f"{account.url}/1/{account.collection}/",
        files={
            "file": ("tree.tar.gz", archive.read_bytes(), "application/gzip"),
            "atom": ("entry.xml", entry.read_bytes(), "application/atom+xml;type=entry"),
        },
        headers={"In-Progress": "false", "Authorization": account.authorization},
        timeout=60,
    )
    equal(answer.status_code, 201)
    statuses: list[str] = []
    while statuses[-1:] != ["done"]:
        body, headers = next_notification()
        statuses.append(webhook.verify(body, headers)["data"]["deposit_status"])
        for altered, given in ((body + b" ", headers), (body, {**headers, "webhook-id": "another"})):
            try:
                webhook.verify(altered, given)
            except WebhookVerificationError:
                continue
            raise AssertionError("an altered notification was verified")
    equal(statuses, ["partial", "deposited", "verified", "loading", "done"])


run_checks()
