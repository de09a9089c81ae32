import { appendFileSync, closeSync, openSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { megabytes } from '../../src/tools/terminal/progress-bar.ts';
import { announcedDigests } from '../documents/digests.ts';
import { Fault, reasonOf } from '../faults.ts';
import { Lost } from '../http/exchange.ts';
import type { Progress } from '../progress.ts';
import type { Session } from '../session.ts';
import { ignoreErrors } from '../state-files.ts';
import { type Announced, add, type Part, type StoredDownload } from './stored-download.ts';

export type Downloaded = {
  /** The server's name for the archive, without folders. */
  readonly filename: string;
  readonly mediaType: string | null;
  readonly length: number;
  readonly sha256: string;
  /** The announced headers that the bytes were verified against. */
  readonly verified: readonly string[];
};

export type DownloadOptions = Session & { readonly progress: Progress };

/**
 * Downloads an archive to a file. Continues where the connection was lost, or where an earlier command ended, if the
 * server still has the same archive.
 * @throws {Fault} the bytes differ from what the server announced, or the file cannot be written, or another process
 * writes to it.
 */
export async function downloadTo(
  stored: StoredDownload,
  iri: string,
  { connection, output, progress }: DownloadOptions,
): Promise<Downloaded> {
  const earlier = await stored.find((bytes, total) => progress.bars.at('MB hashed', bytes, total));
  let part = earlier;
  let furthest = earlier?.length ?? 0;
  let isFirst = true;
  await connection.download(iri, {
    headers: () => rangeAfter(part),
    take: async (message, onPiece) => {
      const isRest = part !== undefined && message.statusCode === 206;
      if (isRest) assertFollows(message, part!.length, iri);
      if (isRest && isFirst) output.note(resuming(part!));
      isFirst = false;
      const current = isRest ? part! : stored.begin(announcedBy(message));
      part = current;
      await store(stored.file, message, (piece) => {
        add(current, piece);
        progress.bars.at('MB downloaded', current.length, current.total ?? undefined);
        onPiece(current.length > furthest);
        furthest = Math.max(furthest, current.length);
      });
    },
  });
  try {
    const downloaded = verified(part!); // `download` rejects without an answer
    if (!stored.containsOnly(part!)) throw new Fault(`${stored.file} was changed by another process.`);
    return downloaded;
  } catch (error) {
    stored.remove();
    if (part !== earlier) throw error;
    output.note('What an earlier command has stored is damaged; downloading all of it again.');
    return downloadTo(stored, iri, { connection, output, progress });
  }
}

/** Returns the headers that request what follows the part. */
function rangeAfter(part: Part | undefined): Readonly<Record<string, string>> {
  if (!part?.etag || part.length === 0) return {};
  return { Range: `bytes=${part.length}-`, 'If-Range': part.etag };
}

function resuming({ length, total }: Part): string {
  const of = total === null ? '' : ` of ${megabytes(total)}`;
  return `Resuming: ${megabytes(length)}${of} MB already downloaded.`;
}

function assertFollows({ headers }: IncomingMessage, length: number, iri: string): void {
  if (headers['content-range']?.startsWith(`bytes ${length}-`)) return;
  throw new Fault(
    `${iri} answered the request for the bytes from ${length} with ${headers['content-range']}.`,
  );
}

function announcedBy(message: IncomingMessage): Announced {
  const { etag, 'content-length': total, 'content-type': mediaType = null } = message.headers;
  return {
    etag: etag?.startsWith('"') ? etag : null,
    total: Number(total ?? 'none') || null,
    digests: announcedDigests(message.headers),
    filename: filenameIn(message),
    mediaType,
  };
}

/** @throws {Fault} the bytes differ from what the server announced. */
function verified({ length, total, digests, hashes, filename, mediaType }: Part): Downloaded {
  const found = new Map([...hashes].map(([name, hash]) => [name, hash.digest('hex')]));
  if (total !== null && length !== total)
    throw new Fault(`The download is corrupt: the server announced ${total} bytes, but sent ${length}.`);
  for (const { algorithm, header, digest } of digests) {
    if (found.get(algorithm) !== digest)
      throw new Fault(
        `The download is corrupt: the server announced ${header} ${digest}, but the bytes have ${found.get(algorithm)}.`,
      );
  }
  const headers = digests.map(({ header, algorithm }) => `${header} ${algorithm}`);
  return {
    filename,
    mediaType,
    length,
    sha256: found.get('sha256') ?? '',
    verified: [...(total === null ? [] : ['content-length']), ...headers],
  };
}

/**
 * Writes the answer after what the file has. Calls `onPiece` for each chunk that is written.
 * @throws {Lost} the connection ended too early @throws {Fault} the file cannot be written
 */
async function store(
  file: string,
  message: IncomingMessage,
  onPiece: (piece: Buffer) => void,
): Promise<void> {
  const opened = written(file, () => openSync(file, 'a'));
  try {
    for await (const piece of message as AsyncIterable<Buffer>) {
      written(file, () => appendFileSync(opened, piece));
      onPiece(piece);
    }
  } catch (error) {
    throw error instanceof Fault ? error : new Lost(error as NodeJS.ErrnoException, true);
  } finally {
    closeSync(opened);
  }
}

/** Runs work that writes to a file. @throws {Fault} */
function written<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Fault(`${file} cannot be written: ${reasonOf(error)}. XDG_CACHE_HOME names another folder.`);
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
  return ignoreErrors(() => decodeURIComponent(encoded)) || undefined;
}
