import net from 'node:net';
import {
  archiveHeaders,
  BOUNDARY,
  entryHeaders,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { AUTHORIZATION, newTar } from './answered-deposits.ts';

/** A way of being slow. */
export type SlowKind = {
  readonly name: string;
  /** Bytes that are sent at once. */
  readonly begins: string;
  /** Bytes that are sent after that, one a second. */
  readonly drips: string;
  /** Seconds from the beginning after which it must be over: the timer, and the interval in which it is checked. */
  readonly within: number;
  /** Correct statuses; 0: the connection is closed without one. */
  readonly answers: readonly number[];
};

export type SlowEnd = {
  readonly kind: SlowKind;
  readonly seconds: number;
  /** HTTP status; 0: none came. */
  readonly status: number;
  readonly isOpen: boolean;
};

/** Seconds for other work of the machine. */
const SLACK = 4;
const START = `POST /1/drill/ HTTP/1.1\r\nHost: drill\r\nAuthorization: ${AUTHORIZATION}\r\n`;
const DRIP = 'x'.repeat(10_000);
const TAR = newTar(20_000).toString('latin1');
function headOf(headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...headers, ...partial }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${START}${lines.join('')}\r\n`;
}

const BINARY = archiveHeaders('a.tar', 'application/x-tar');
const PART = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.tar"\r\nContent-Type: application/x-tar\r\n\r\n`;

/** Time limits in seconds: headers are checked at intervals only; small bodies have no limit for their size. */
export type Times = { readonly headers: number; readonly body: number };

export function slowKinds({ headers, body }: Times): SlowKind[] {
  const [ofHeaders, ofBody] = [headers + Math.min(5, headers / 3) + SLACK, body + SLACK];
  return [
    { name: 'slow headers', begins: START, drips: `X-Slow: ${DRIP}`, within: ofHeaders, answers: [408, 0] },
    { name: 'half a request line', begins: 'POST /1/dr', drips: '', within: ofHeaders, answers: [408, 0] },
    { name: 'nothing sent', begins: '', drips: '', within: ofHeaders, answers: [408, 0] },
    {
      name: 'a dripping archive',
      begins: headOf({ ...BINARY, 'Content-Length': '10000' }),
      drips: TAR,
      within: ofBody,
      answers: [408, 0],
    },
    {
      name: 'an archive that stops',
      begins: `${headOf({ ...BINARY, 'Content-Length': '5000000' })}${TAR}`,
      drips: '',
      within: ofBody,
      answers: [408, 0],
    },
    {
      name: 'a dripping form',
      begins: `${headOf({ ...formType, 'Content-Length': '20000' })}${PART}`,
      drips: TAR,
      within: ofBody,
      answers: [408, 0],
    },
    {
      name: 'a dripping entry',
      begins: headOf({ ...entryHeaders(), 'Content-Length': '10000' }),
      drips: DRIP,
      within: ofBody,
      answers: [408, 0],
    },
  ];
}

/** Longer than any of them may take, in milliseconds. */
const GIVE_UP = 55_000;

/** Opens many connections at once, the same number of each kind. */
export class SlowClients {
  readonly #ends: Promise<SlowEnd>[];
  open = 0;

  constructor(url: string, kinds: readonly SlowKind[], clients: number) {
    this.#ends = Array.from({ length: clients }, (_, number) => {
      const kind = kinds[number % kinds.length] as SlowKind; // there are some
      this.open += 1;
      return beSlow(url, kind).finally(() => (this.open -= 1));
    });
  }

  /** Resolves when the last of them was answered, closed or given up. */
  ended(): Promise<SlowEnd[]> {
    return Promise.all(this.#ends);
  }
}

async function beSlow(url: string, kind: SlowKind): Promise<SlowEnd> {
  const { hostname, port } = new URL(url);
  const socket = net.connect({ host: hostname, port: Number(port) });
  const begun = performance.now();
  let received = '';
  let sent = 0;
  const { promise: over, resolve } = Promise.withResolvers<boolean>();
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.on('error', () => undefined); // a reset closes it; the listener below handles that
  socket.once('close', () => resolve(false));
  socket.once('connect', () => socket.write(kind.begins, 'latin1'));
  const drip = setInterval(() => {
    if (/^HTTP\/1\.1 [2-5]/.test(received))
      resolve(false); // the answer is only drained
    else if (sent < kind.drips.length && socket.writable) socket.write(kind.drips.charAt(sent++), 'latin1');
  }, 1000);
  const timer = setTimeout(() => resolve(true), GIVE_UP);
  const isOpen = await over;
  clearInterval(drip);
  clearTimeout(timer);
  socket.destroy();
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 0);
  return { kind, seconds: (performance.now() - begun) / 1000, status, isOpen };
}
