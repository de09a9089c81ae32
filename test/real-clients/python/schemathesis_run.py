"""schemathesis, which makes requests and judges answers by the description of the API at /openapi.json."""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

from checks import Account, check, run_checks

account = Account()
HERE = Path(__file__).parent
# Answers that a schema describes. What it cannot say is left out: which combinations of headers are accepted, and
# which methods the status of a deposit allows. "ignored_auth" sends more wrong passwords than an address may: it does not
# know the 429 that answers them. test/http/authenticating.test.ts covers what it looks for.
CONFORMANCE = ",".join(
    (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "unsupported_method",
    )
)


def schemathesis(checks: str, *options: str) -> None:
    line = [
        *(sys.executable, "-c", "import sys; from schemathesis.cli import schemathesis; sys.exit(schemathesis())"),
        *options,
        *("run", f"{account.url}/openapi.json", "--auth", f"{account.name}:{account.password}"),
        *("--checks", checks, "--phases", "coverage,fuzzing", "--max-examples", "3", "--seed", "1"),
        # An event stream has no end.
        *("--exclude-path-regex", "/events/$", "--continue-on-failure", "--warnings", "off", "--no-color"),
        # These tell of a slow machine, and of patterns that are hard to generate.
        *("--request-timeout", "60", "--suppress-health-check", "all"),
    ]
    path = os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": path}
    ran = subprocess.run(line, capture_output=True, text=True, env=environment, cwd=mkdtemp(), timeout=400)
    if ran.returncode != 0:
        raise AssertionError(f"it ended with {ran.returncode}: {ran.stdout[-20_000:]}{ran.stderr[-2000:]}")


@check("schemathesis: what the description forbids is refused, and answered as it says")
def any_request() -> None:
    schemathesis(f"{CONFORMANCE},negative_data_rejection")


@check("schemathesis: a deposit that is there is answered as the description says")
def deposit_there() -> None:
    schemathesis(CONFORMANCE, "--config-file", str(HERE / "schemathesis.toml"))


run_checks()
