import { createServer } from 'node:net';

/** Resolves to a port on which no process listens now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number }; // it listens on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
}
