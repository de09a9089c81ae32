import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Closes the connection so that the client does not accept a part of the response as the whole. In HTTP/1.0, which
 * proxies also use, the end of the connection ends the response, so the TCP connection is reset. Such proxies ignore a
 * missing end of TLS.
 */
export function abortResponse({ req, socket }: ServerResponse): void {
  if (req.httpVersion === '1.0') rawSocket(socket)?.resetAndDestroy();
  else socket?.destroy();
}

/** Returns the TCP socket that Node holds under TLS, or the connection itself. */
function rawSocket(socket: (Socket & { readonly _parent?: Socket | null }) | null): Socket | null {
  return socket?._parent ?? socket;
}
