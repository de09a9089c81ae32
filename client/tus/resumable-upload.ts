import { megabytes } from '../../src/tools/terminal/progress-bar.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { Fault, Unreachable } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { fileBody } from '../http/bodies.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Lost } from '../http/exchange.ts';
import { isTransient, reasonOfLoss, secondsIn } from '../http/losses.ts';
import { Refused } from '../http/refused.ts';
import type { Retries } from '../http/retries.ts';
import { createUpload, type ResumableOptions, TUS } from './create-upload.ts';
import { KeptUploads } from './kept-uploads.ts';

/**
 * Minimum and maximum bytes of a request. A proxy may forward only complete requests, or refuse large ones, or abort slow
 * ones.
 */
const [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES] = [128 * 1024, 32 * 1024 ** 2];
/** Maximum number of times that a dropped upload is started over. */
const MAX_STARTS = 3;

/** An archive that is sent in chunks by the tus protocol, before the request that names it. */
export class ResumableUpload {
  readonly #archive: PreparedArchive;
  readonly #options: ResumableOptions;
  readonly #kept: KeptUploads;

  constructor(archive: PreparedArchive, options: ResumableOptions) {
    this.#archive = archive;
    this.#options = options;
    this.#kept = new KeptUploads(options.connection.login, options.uploads, archive);
  }

  /**
   * Sends the archive, from where the server stopped receiving, after a lost connection or after an earlier process ended.
   * Resolves to the IRI of the upload.
   * @throws {Refused}
   * @throws {Unreachable} the server was unavailable for longer than the time limit.
   */
  async send(): Promise<string> {
    const [archive, kept, options] = [this.#archive, this.#kept, this.#options];
    const { connection, note } = options;
    for (let beginnings = 0; beginnings < MAX_STARTS; beginnings += 1) {
      const known = beginnings === 0 ? kept.find() : undefined;
      const offset = known === undefined ? 0 : await offsetOf(known, connection);
      // It is dropped, or used already: the answer to the request that names it shows which.
      if (known !== undefined && offset === undefined) return known;
      if (offset) note(`Resuming: ${megabytes(offset)} of ${megabytes(archive.length)} MB already uploaded.`);
      const upload = known ?? (await createUpload(archive, options, kept));
      kept.keep(upload);
      const onSent = (bytes: number): void => {
        kept.touch();
        options.onSent(bytes);
      };
      if (await sendRest(upload, offset ?? 0, archive, { ...options, onSent })) return upload;
      note('The server dropped the upload; starting over.');
    }
    throw new Fault(`The server at ${connection.server.origin} drops every upload.`);
  }

  /** Resolves to whether the server no longer has the upload. */
  async isGone(): Promise<boolean> {
    const upload = this.#kept.find();
    return upload === undefined || (await offsetOf(upload, this.#options.connection)) === undefined;
  }

  forget(): void {
    this.#kept.forget();
  }
}

/** Returns the number of bytes that the server has; `undefined` if it no longer knows the upload. */
async function offsetOf(
  upload: string,
  connection: Connection,
  retries?: Retries,
): Promise<number | undefined> {
  const { answer } = await connection.ask('HEAD', upload, { headers: TUS, repeatable: true, retries });
  if ([403, 404, 410].includes(answer.status)) return undefined;
  if (!isSuccess(answer)) throw new Refused(answer);
  return offsetIn(answer);
}

/** Sends the rest; resolves to `false` if the server no longer knows the upload. */
async function sendRest(
  upload: string,
  from: number,
  archive: PreparedArchive,
  { connection, onSent, note }: ResumableOptions,
): Promise<boolean> {
  const retries = connection.retries();
  let furthest = from;
  let [size, misses] = [MAX_CHUNK_BYTES, 0];
  for (let offset: number | undefined = from; offset < archive.length; ) {
    const start: number = offset;
    const end = Math.min(start + size, archive.length);
    let [sent, isTooLarge, mayBeTooLong] = [0, false, true];
    const onPart = (bytes: number): void => onSent(start + (sent = bytes));
    try {
      const answer = await sendChunk(upload, [start, end], archive, { connection, retries, onSent: onPart });
      if (isSuccess(answer)) offset = offsetIn(answer);
      else {
        isTooLarge = answer.status === 413 && end - start > MIN_CHUNK_BYTES;
        mayBeTooLong = [413, 504].includes(answer.status);
        const mayResume = isTooLarge || isTransient(answer) || [404, 409, 410, 423].includes(answer.status);
        if (!mayResume) throw new Refused(answer);
        if (!isTooLarge && !(await retries.next(secondsIn(answer.headers)))) throw new Refused(answer);
        note(`The server refused a chunk (${answer.status}); checking how much it has.`);
        offset = await offsetOf(upload, connection, retries);
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      if (!(await retries.next())) throw unavailable(connection, error);
      connection.noteLoss(error);
      offset = await offsetOf(upload, connection, retries);
    }
    if (offset === undefined) return false;
    // A proxy may limit the size or the time of a request. One loss may be seen before the server has stored the bytes.
    if (offset === start && sent > 0 && mayBeTooLong) misses += 1;
    else misses = 0;
    if (isTooLarge || misses > 1) size = Math.max(Math.ceil((end - start) / 2), MIN_CHUNK_BYTES);
    if (offset > furthest) retries.reset();
    furthest = Math.max(furthest, offset);
    onSent(offset);
  }
  return true;
}

async function sendChunk(
  upload: string,
  [start, end]: readonly [number, number],
  archive: PreparedArchive,
  {
    connection,
    retries,
    onSent,
  }: { connection: Connection; retries: Retries; onSent: (bytes: number) => void },
): Promise<Answer> {
  const { answer } = await connection.ask('PATCH', upload, {
    headers: {
      ...TUS,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(start),
    },
    body: fileBody(archive, start, end),
    onSent,
    repeatable: 'after a look',
    retries,
  });
  return answer;
}

function offsetIn({ headers, iri }: Answer): number {
  const offset = headers['upload-offset'] ?? '';
  if (/^[0-9]+$/.test(offset)) return Number(offset);
  throw new Fault(`${iri} does not report how many bytes it has.`);
}

function unavailable({ server }: Connection, error: Lost): Unreachable {
  const text = `The server at ${server.origin} cannot be reached: ${reasonOfLoss(error)}. Run the same command again to resume the upload.`;
  return new Unreachable(text, error);
}
