import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a server on a free port. `onExpect` answers requests with `Expect: 100-continue`; by default, `answer` does. */
export async function listening(answer: RequestListener, onExpect?: RequestListener) {
  const server = http.createServer(answer).listen(0, '127.0.0.1');
  if (onExpect) server.on('checkContinue', onExpect);
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, [Symbol.asyncDispose]: close };
}
