"""Unpacks and identifies archives as the loader of the peer does: one path a line in, one line of JSON out.

Each is `_load_directory` of swh.loader.package.loader up to the storage, which it does not call. Removing the unpacked
files is not measured.
"""

import json
import os
import resource
import shutil
import sys
import tempfile
import time

from swh.core.tarball import uncompress
from swh.model import from_disk

LARGEST_CONTENT = 100 * 1024 * 1024  # the default of the loader

folder = sys.argv[1]
for line in sys.stdin:
    temporary = tempfile.mkdtemp(dir=folder)
    unpacked = os.path.join(temporary, "src")
    started, before = time.monotonic(), os.times()
    uncompress(line.rstrip("\n"), dest=unpacked)
    directory = from_disk.Directory.from_disk(path=unpacked.encode(), max_content_length=LARGEST_CONTENT)
    from_disk.iter_directory(directory)
    identifier = directory.hash.hex()
    seconds, after = time.monotonic() - started, os.times()
    shutil.rmtree(temporary)
    answer = {
        "directory": identifier,
        "seconds": seconds,
        "cpuSeconds": sum(after[:4]) - sum(before[:4]),
        "peakMemory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(answer), flush=True)
