import { request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { LocalServer } from '../http/local-server.ts';

/**
 * Resolves to a server that passes requests on without `Sec-Fetch-Site`: browsers that are older than this header do not
 * send it (Safari before 16.4).
 */
export async function withoutFetchMetadata(url: string): Promise<LocalServer> {
  const server = new LocalServer((incoming, answer) => {
    const { 'sec-fetch-site': _, ...headers } = incoming.headers;
    const passed = request(new URL(incoming.url ?? '/', url), { method: incoming.method, headers });
    passed.on('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      pipeline(response, answer).catch(() => undefined); // the browser closed the page
    });
    pipeline(incoming, passed).catch(() => answer.destroy());
  });
  await server.listen();
  return server;
}
