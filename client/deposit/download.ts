import { createHash, type Hash } from 'node:crypto';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { ProgressBars } from '../../src/tools/terminal/progress-bar.ts';
import { type AnnouncedDigest, announcedDigests } from '../documents/digests.ts';
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

/** The bytes received so far, and what the server announced before them. */
type Part = {
  length: number;
  /** Strong validator, with which the rest can be requested. */
  readonly etag: string | undefined;
  readonly total: number | undefined;
  readonly announced: readonly AnnouncedDigest[];
  readonly hashes: ReadonlyMap<string, Hash>;
  readonly filename: string;
  readonly mediaType: string | null;
};

/**
 * Downloads an archive to a file. Continues where the connection was lost if the server still has the same archive.
 * @throws {Fault} the bytes differ from what the server announced, or the file cannot be written.
 */
export async function downloadTo(file: string, iri: string, connection: Connection): Promise<Downloaded> {
  using progress = new ProgressBars();
  let part: Part | undefined;
  let furthest = 0;
  await connection.download(iri, {
    headers: () => rangeAfter(part),
    take: async (message, onPiece) => {
      const isRest = part !== undefined && message.statusCode === 206;
      if (isRest) assertFollows(message, part!.length, iri);
      const current = isRest ? part! : begunBy(message);
      part = current;
      await store(file, isRest, message, (piece) => {
        for (const hash of current.hashes.values()) hash.update(piece);
        current.length += piece.length;
        progress.at('MB downloaded', current.length, current.total);
        onPiece(current.length > furthest);
        furthest = Math.max(furthest, current.length);
      });
    },
  });
  return verified(part!); // `download` rejects without an answer
}

/** Returns the headers that request what follows the part. */
function rangeAfter(part: Part | undefined): Readonly<Record<string, string>> {
  if (!part?.etag || part.length === 0) return {};
  return { Range: `bytes=${part.length}-`, 'If-Range': part.etag };
}

function assertFollows({ headers }: IncomingMessage, length: number, iri: string): void {
  if (headers['content-range']?.startsWith(`bytes ${length}-`)) return;
  throw new Fault(
    `${iri} answered the request for the bytes from ${length} with ${headers['content-range']}.`,
  );
}

function begunBy(message: IncomingMessage): Part {
  const { etag, 'content-length': total, 'content-type': mediaType = null } = message.headers;
  const announced = announcedDigests(message.headers);
  const algorithms = new Set([...announced.map(({ algorithm }) => algorithm), 'sha256']);
  return {
    length: 0,
    etag: etag?.startsWith('"') ? etag : undefined,
    total: Number(total ?? 'none') || undefined,
    announced,
    hashes: new Map([...algorithms].map((name) => [name, createHash(name)])),
    filename: filenameIn(message),
    mediaType,
  };
}

/** @throws {Fault} the bytes differ from what the server announced. */
function verified({ length, total, announced, hashes, filename, mediaType }: Part): Downloaded {
  const found = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')]));
  if (total !== undefined && length !== total)
    throw new Fault(`The download is corrupt: the server announced ${total} bytes, but sent ${length}.`);
  for (const { algorithm, header, digest } of announced) {
    if (found.get(algorithm) !== digest)
      throw new Fault(
        `The download is corrupt: the server announced ${header} ${digest}, but the bytes have ${found.get(algorithm)}.`,
      );
  }
  const headers = announced.map(({ header, algorithm }) => `${header} ${algorithm}`);
  return {
    filename,
    mediaType,
    length,
    sha256: found.get('sha256') ?? '',
    verified: [...(total === undefined ? [] : ['content-length']), ...headers],
  };
}

/**
 * Writes the answer to a file, or after what it has. Calls `onPiece` for each chunk that is written.
 * @throws {Lost} the connection ended too early @throws {Fault} the file cannot be written
 */
async function store(
  file: string,
  isRest: boolean,
  message: IncomingMessage,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  const opened = openSync(file, isRest ? 'a' : 'w');
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      writeTo(opened, piece, file);
      onPiece(piece);
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Lost(error as NodeJS.ErrnoException, true);
  } finally {
    closeSync(opened);
  }
}

function writeTo(opened: number, piece: Buffer, file: string): void {
  try {
    appendFileSync(opened, piece);
  } catch (error) {
    throw new Fault(`${file} cannot be written: ${reasonOf(error)}. TMPDIR names another folder.`);
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
