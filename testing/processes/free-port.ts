import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** The lowest port that is chosen; well-known services listen below it. */
const LOWEST = 10_000;
/** The lowest port that the system gives to connections, and to servers that ask for any. */
const EPHEMERAL = lowestEphemeral();

/**
 * Resolves to a port on which no process listens now. The system gives it to no other process until it is used: only a
 * second caller of this function may choose it.
 */
export async function freePort(): Promise<number> {
  while (true) {
    const port = randomInt(LOWEST, EPHEMERAL);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

function lowestEphemeral(): number {
  try {
    const [lowest] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t');
    return Math.max(LOWEST + 1000, Number(lowest));
  } catch {
    return 32_768; // the default of Linux
  }
}
