"""Runs checks one after the other and prints a line for each, as the program that started this one counts them."""

import os
import sys
import traceback
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Account:
    """The service and a client of it, as the environment names them."""

    url: str = os.environ["SERVICE_URL"]
    collection: str = os.environ["SERVICE_COLLECTION"]
    name: str = os.environ["SERVICE_CLIENT"]
    password: str = os.environ["SERVICE_PASSWORD"]

    @property
    def authorization(self) -> str:
        return "Basic " + b64encode(f"{self.name}:{self.password}".encode()).decode()


CHECKS: list[tuple[str, Callable[[], None]]] = []


def check(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def add(work: Callable[[], None]) -> Callable[[], None]:
        CHECKS.append((title, work))
        return work

    return add


def run_checks() -> None:
    """Ends the process with 1 if a check failed."""
    failed = 0
    for title, work in CHECKS:
        try:
            work()
            print(f"  ✔ {title}", flush=True)
        except Exception:
            failed += 1
            traceback.print_exc()
            print(f"  ✘ {title}", flush=True)
    sys.exit(1 if failed else 0)


def equal(found: object, expected: object) -> None:
    if found != expected:
        raise AssertionError(f"{found!r}, not {expected!r}")
