"""Lets schemathesis send pieces of uploads, whose media type it does not know."""

import schemathesis


@schemathesis.serializer("application/offset+octet-stream")
def offset_octet_stream(_context: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
