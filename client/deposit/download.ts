import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { ProgressBars } from '../../src/tools/terminal/progress-bar.ts';
import { announcedDigests } from '../documents/digests.ts';
import { Fault, reasonOf } from '../faults.ts';
import type { Connection } from '../http/connection.ts';
import { Lost } from '../http/exchange.ts';

export type Downloaded = {
  /** The server's name for the archive, without folders. */
  readonly filename: string;
  readonly mediaType: string | null;
  readonly length: number;
  readonly sha256: string;
  /** The announced headers that the bytes were verified against. */
  readonly verified: readonly string[];
};

/** @throws {Fault} the bytes differ from what the server announced. */
export function downloadTo(file: string, iri: string, connection: Connection): Promise<Downloaded> {
  return connection.download(iri, async (message, onPiece) => {
    const announced = announcedDigests(message.headers);
    const hashes = new Map(
      [...announced.map(({ algorithm }) => algorithm), 'sha256'].map((name) => [name, createHash(name)]),
    );
    const total = Number(message.headers['content-length'] ?? 'none') || undefined;
    let length = 0;
    using progress = new ProgressBars();
    await store(file, message, (piece) => {
      onPiece();
      for (const hash of hashes.values()) hash.update(piece);
      progress.at('MB downloaded', (length += piece.length), total);
    });
    const found = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')]));
    for (const { algorithm, header, digest } of announced) {
      if (found.get(algorithm) !== digest)
        throw new Fault(
          `The download is corrupt: the server announced ${header} ${digest}, but the bytes have ${found.get(algorithm)}.`,
        );
    }
    return {
      filename: filenameIn(message),
      mediaType: message.headers['content-type'] ?? null,
      length,
      sha256: found.get('sha256') ?? '',
      verified: [
        ...(total === undefined ? [] : ['content-length']),
        ...announced.map(({ header, algorithm }) => `${header} ${algorithm}`),
      ],
    };
  });
}

/**
 * Writes the answer to a file. @throws {Lost} the connection ended too early @throws {Fault} the file cannot be written
 */
async function store(
  file: string,
  message: IncomingMessage,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  const lost: Error[] = [];
  message.once('error', (error) => lost.push(error));
  async function* pieces(): AsyncGenerator<Buffer> {
    for await (const piece of message as AsyncIterable<Buffer>) {
      onPiece(piece);
      yield piece;
    }
  }
  try {
    await pipeline(pieces(), createWriteStream(file, { flags: 'w' }));
  } catch (error) {
    const [loss] = lost;
    throw loss ? new Lost(loss, true) : new Fault(`${file} cannot be written: ${reasonOf(error)}.`);
  }
}

/** Returns the name that the server gives the archive. */
function filenameIn({ headers }: IncomingMessage): string {
  const disposition = headers['content-disposition'] ?? '';
  const [, quoted, plain] = /;\s*filename="?(?:((?<=").*?(?<!\\))"|([^";]+))/i.exec(disposition) ?? [];
  return safeFilename(extendedName(disposition) ?? quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
}

/** Names of devices on Windows, also with an ending. */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?=\s*(?:\.|$))/i;

/**
 * Returns a name for a file in the current folder: without folders, control characters, and leading dots, which would
 * hide the file. It is never `-`, which is standard output to the command. On Windows it is no device, and has none of
 * the characters that are not possible there.
 */
export function safeFilename(name: string, platform: string = process.platform): string {
  const trimmed = name.trim();
  const base = trimmed.slice(Math.max(trimmed.lastIndexOf('/'), trimmed.lastIndexOf('\\')) + 1);
  // oxlint-disable-next-line no-control-regex
  const plain = base.replace(/[\u0000-\u001f\u007f-\u009f:]/g, '_').replace(/^\.+/, '');
  const safe =
    platform === 'win32'
      ? plain
          .replace(/[<>"|?*]/g, '_')
          .replace(/[. ]+$/, '')
          .replace(DEVICE, '_$&')
      : plain;
  return safe === '' || safe === '-' ? 'deposit.archive' : safe;
}

/** Returns the name in `filename*` (RFC 8187), which is not limited to ASCII; `undefined` without a valid one. */
function extendedName(disposition: string): string | undefined {
  const [, encoded = ''] = /;\s*filename\*=UTF-8'[^']*'([^;\s]+)/i.exec(disposition) ?? [];
  try {
    return decodeURIComponent(encoded) || undefined;
  } catch {
    return undefined;
  }
}
