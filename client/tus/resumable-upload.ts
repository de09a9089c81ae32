import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { Fault, Unreachable } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { fileBody } from '../http/bodies.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Lost } from '../http/exchange.ts';
import { isPassing, reasonOfLoss, secondsIn } from '../http/losses.ts';
import type { Pauses } from '../http/patience.ts';
import { Refused } from '../http/refused.ts';
import { beginUpload, TUS } from './begin-upload.ts';
import type { KeptUploads } from './kept-uploads.ts';

export type ResumableOptions = {
  readonly connection: Connection;
  /** Where uploads begin. */
  readonly uploads: string;
  readonly mediaType: string;
  /** Told of the bytes that the server has. */
  readonly onSent: (bytes: number) => void;
  readonly note: (text: string) => void;
};

/** A proxy that hands a request on only when it is whole loses no more than this. */
const PIECE = 32 * 1024 ** 2;
/** Uploads that the server has dropped are begun again so often. */
const MOST_BEGINNINGS = 3;

/**
 * Sends an archive in pieces by the tus protocol, and goes on where the server stopped receiving: after a lost
 * connection, and also when this process takes over from one that was ended. Resolves to the IRI of the upload.
 * @throws {Refused}
 * @throws {Unreachable} the server was away for longer than the patience.
 */
export async function uploadResumably(
  archive: PreparedArchive,
  kept: KeptUploads,
  options: ResumableOptions,
): Promise<string> {
  const { connection, note } = options;
  for (let beginnings = 0; beginnings < MOST_BEGINNINGS; beginnings += 1) {
    const known = beginnings === 0 ? kept.find() : undefined;
    const offset = known === undefined ? undefined : await offsetOf(known, connection);
    if (offset) note(`${offset} of ${archive.length} bytes are there from before; going on with the rest.`);
    const upload =
      known !== undefined && offset !== undefined ? known : await beginUpload(archive, options, kept);
    kept.keep(upload);
    const onSent = (bytes: number): void => {
      kept.touch();
      options.onSent(bytes);
    };
    if (await sendRest(upload, offset ?? 0, archive, { ...options, onSent })) return upload;
    note('The server has dropped the upload; beginning anew.');
  }
  throw new Fault(`The server at ${connection.server.origin} drops every upload that is begun.`);
}

/** Bytes that the server has; `undefined` when it knows the upload no more. */
export async function offsetOf(
  upload: string,
  connection: Connection,
  pauses?: Pauses,
): Promise<number | undefined> {
  const { answer } = await connection.ask('HEAD', upload, { headers: TUS, repeatable: true, pauses });
  if ([403, 404, 410].includes(answer.status)) return undefined;
  if (!isSuccess(answer)) throw new Refused(answer);
  return offsetIn(answer);
}

/** `false` when the server knows the upload no more. */
async function sendRest(
  upload: string,
  from: number,
  archive: PreparedArchive,
  { connection, onSent, note }: ResumableOptions,
): Promise<boolean> {
  const pauses = connection.pauses();
  let furthest = from;
  for (let offset: number | undefined = from; offset < archive.length; ) {
    const start: number = offset;
    try {
      const answer = await sendPiece(upload, start, archive, { connection, pauses, onSent });
      if (isSuccess(answer)) offset = offsetIn(answer);
      else {
        if (!isPassing(answer) && ![404, 409, 410, 423].includes(answer.status)) throw new Refused(answer);
        if (!(await pauses.next(secondsIn(answer.headers)))) throw new Refused(answer);
        note(`The server did not take the piece (${answer.status}); asking it how far it is.`);
        offset = await offsetOf(upload, connection, pauses);
      }
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      if (!(await pauses.next())) throw away(connection, error);
      connection.noteLoss(error);
      offset = await offsetOf(upload, connection, pauses);
    }
    if (offset === undefined) return false;
    if (offset > furthest) pauses.reset();
    furthest = Math.max(furthest, offset);
    onSent(offset);
  }
  return true;
}

async function sendPiece(
  upload: string,
  start: number,
  archive: PreparedArchive,
  { connection, pauses, onSent }: { connection: Connection; pauses: Pauses; onSent: (bytes: number) => void },
): Promise<Answer> {
  const { answer } = await connection.ask('PATCH', upload, {
    headers: {
      ...TUS,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(start),
    },
    body: fileBody(archive, start, Math.min(start + PIECE, archive.length)),
    onSent: (bytes) => onSent(start + bytes),
    repeatable: 'after a look',
    pauses,
  });
  return answer;
}

function offsetIn({ headers, iri }: Answer): number {
  const offset = headers['upload-offset'] ?? '';
  if (/^[0-9]+$/.test(offset)) return Number(offset);
  throw new Fault(`${iri} does not say how many bytes it has.`);
}

function away({ server }: Connection, error: Lost): Unreachable {
  const text = `The server at ${server.origin} cannot be reached: ${reasonOfLoss(error)}. The same command goes on with the upload.`;
  return new Unreachable(text, error);
}
