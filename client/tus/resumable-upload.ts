import { megabytes } from '../../src/tools/terminal/progress-bar.ts';
import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { absoluteIri } from '../documents/absolute-iri.ts';
import { Fault, Unreachable } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { fileBody } from '../http/bodies.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Lost } from '../http/exchange.ts';
import { isTransient, reasonOfLoss, secondsIn } from '../http/losses.ts';
import { Refused } from '../http/refused.ts';
import type { Retries } from '../http/retries.ts';
import { KeptUploads } from './kept-uploads.ts';

/**
 * Minimum and maximum bytes of a request. A proxy may forward only complete requests, or refuse large ones, or abort slow
 * ones.
 */
const [MIN_CHUNK_BYTES, MAX_CHUNK_BYTES] = [128 * 1024, 32 * 1024 ** 2];
/** Maximum number of times that a dropped upload is started over. */
const MAX_STARTS = 3;

const TUS = { 'Tus-Resumable': '1.0.0' } as const;

export type ResumableOptions = {
  readonly connection: Connection;
  /** IRI for new uploads. */
  readonly uploads: string;
  readonly mediaType: string;
  /** Called with the number of bytes that the server has. */
  readonly onSent: (bytes: number) => void;
  readonly note: (text: string) => void;
};

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
    const { connection, note } = this.#options;
    for (let beginnings = 0; beginnings < MAX_STARTS; beginnings += 1) {
      const known = beginnings === 0 ? this.#kept.find() : undefined;
      const offset = known === undefined ? 0 : await this.#offsetOf(known);
      // It is dropped, or used already: the answer to the request that names it shows which.
      if (known !== undefined && offset === undefined) return known;
      if (offset)
        note(`Resuming: ${megabytes(offset)} of ${megabytes(this.#archive.length)} MB already uploaded.`);
      const upload = known ?? (await this.#create());
      this.#kept.keep(upload);
      if (await this.#sendRest(upload, offset ?? 0)) return upload;
      note('The server dropped the upload; starting over.');
    }
    throw new Fault(`The server at ${connection.server.origin} drops every upload.`);
  }

  /** Resolves to whether the server no longer has the upload. */
  async isGone(): Promise<boolean> {
    const upload = this.#kept.find();
    return upload === undefined || (await this.#offsetOf(upload)) === undefined;
  }

  forget(): void {
    this.#kept.forget();
  }

  /**
   * Creates an upload. If the server has as many uploads of this user as it allows, removes abandoned ones of this
   * program there, one by one, until the server accepts. Resolves to the IRI of the upload.
   */
  async #create(): Promise<string> {
    const { connection, uploads, mediaType, note } = this.#options;
    const { length, filename } = this.#archive;
    const pairs = Object.entries({ filename, filetype: mediaType }).map(
      ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
    );
    const headers = { ...TUS, 'Upload-Length': String(length), 'Upload-Metadata': pairs.join(',') };
    let abandoned: AbandonedUploads | undefined;
    for (;;) {
      // An upload whose creation is lost expires.
      const answer = await connection.ask('POST', uploads, { headers, repeatable: true, handled: 429 });
      if (isSuccess(answer)) return locationIn(answer);
      abandoned ??= this.#kept.abandoned();
      if (answer.status !== 429 || !(await removeOne(abandoned, connection))) throw new Refused(answer);
      note('The limit of open uploads is reached: removed an abandoned upload of yours.');
    }
  }

  /** Returns the number of bytes that the server has; `undefined` if it no longer knows the upload. */
  async #offsetOf(upload: string, retries?: Retries): Promise<number | undefined> {
    const { connection } = this.#options;
    const answer = await connection.ask('HEAD', upload, { headers: TUS, repeatable: true, retries });
    if ([403, 404, 410].includes(answer.status)) return undefined;
    if (!isSuccess(answer)) throw new Refused(answer);
    return offsetIn(answer);
  }

  /** Sends the rest; resolves to `false` if the server no longer knows the upload. */
  async #sendRest(upload: string, from: number): Promise<boolean> {
    const { connection, note } = this.#options;
    const { length } = this.#archive;
    const retries = connection.retries();
    let furthest = from;
    let [size, misses] = [MAX_CHUNK_BYTES, 0];
    for (let offset: number | undefined = from; offset < length; ) {
      const start: number = offset;
      const end = Math.min(start + size, length);
      let [sent, isTooLarge, mayBeTooLong] = [0, false, true];
      const onPart = (bytes: number): void => this.#reached(start + (sent = bytes));
      try {
        const answer = await this.#sendChunk(upload, [start, end], retries, onPart);
        if (isSuccess(answer)) {
          offset = offsetIn(answer);
          if (offset <= start && !(await retries.next()))
            throw new Fault(
              `The server at ${connection.server.origin} stores nothing of the upload ${upload}.`,
            );
        } else {
          isTooLarge = answer.status === 413 && end - start > MIN_CHUNK_BYTES;
          mayBeTooLong = [408, 413, 504].includes(answer.status);
          const mayResume = isTooLarge || isTransient(answer) || [404, 409, 410, 423].includes(answer.status);
          if (!mayResume) throw new Refused(answer);
          if (!isTooLarge && !(await retries.next(secondsIn(answer.headers)))) throw new Refused(answer);
          note(`The server refused a chunk (${answer.status}); checking how much it has.`);
          offset = await this.#offsetOf(upload, retries);
        }
      } catch (error) {
        if (!(error instanceof Lost)) throw error;
        if (!(await retries.next())) throw unavailable(connection, error);
        connection.noteLoss(error);
        offset = await this.#offsetOf(upload, retries);
      }
      if (offset === undefined) return false;
      // A proxy may limit the size or the time of a request. One loss may be seen before the server has stored the bytes.
      if (offset === start && sent > 0 && mayBeTooLong) misses += 1;
      else misses = 0;
      if (isTooLarge || misses > 1) size = Math.max(Math.ceil((end - start) / 2), MIN_CHUNK_BYTES);
      if (offset > furthest) retries.reset();
      furthest = Math.max(furthest, offset);
      this.#reached(offset);
    }
    return true;
  }

  async #sendChunk(
    upload: string,
    [start, end]: readonly [number, number],
    retries: Retries,
    onSent: (bytes: number) => void,
  ): Promise<Answer> {
    const headers = {
      ...TUS,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(start),
    };
    const body = fileBody(this.#archive, start, end);
    const request = { headers, body, onSent, repeatable: 'after a look', retries } as const;
    return this.#options.connection.ask('PATCH', upload, request);
  }

  #reached(bytes: number): void {
    this.#kept.touch();
    this.#options.onSent(bytes);
  }
}

type AbandonedUploads = ReturnType<KeptUploads['abandoned']>;

/** Removes the first upload that still exists; resolves to `false` if none did. */
async function removeOne(abandoned: AbandonedUploads, connection: Connection): Promise<boolean> {
  for (let next = abandoned.shift(); next; next = abandoned.shift()) {
    const answer = await connection.ask('DELETE', next.upload, { headers: TUS, repeatable: true });
    // An upload that no longer exists may have become an archive, which a repeated command needs to know.
    if (!isSuccess(answer)) continue;
    next.forget();
    return true;
  }
  return false;
}

function locationIn({ headers, iri }: Answer): string {
  const location = headers['location'];
  if (location) return absoluteIri(location, iri);
  throw new Fault(`${iri} started an upload but does not say where it is.`);
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
