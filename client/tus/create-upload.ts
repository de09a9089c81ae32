import type { PreparedArchive } from '../archives/prepare-archive.ts';
import { absoluteIri } from '../documents/absolute-iri.ts';
import { Fault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { Refused } from '../http/refused.ts';
import type { KeptUploads } from './kept-uploads.ts';

export type ResumableOptions = {
  readonly connection: Connection;
  /** IRI for new uploads. */
  readonly uploads: string;
  readonly mediaType: string;
  /** Called with the number of bytes that the server has. */
  readonly onSent: (bytes: number) => void;
  readonly note: (text: string) => void;
};

export const TUS = { 'Tus-Resumable': '1.0.0' } as const;

type AbandonedUploads = ReturnType<KeptUploads['abandoned']>;

/**
 * Creates an upload. If the server has as many uploads of this user as it allows, removes abandoned ones of this
 * program there, one by one, until the server accepts. Resolves to the IRI of the upload.
 * @throws {Refused}
 */
export async function createUpload(
  { length, filename }: PreparedArchive,
  { connection, uploads, mediaType, note }: ResumableOptions,
  kept: KeptUploads,
): Promise<string> {
  const metadata = { filename, filetype: mediaType };
  const pairs = Object.entries(metadata).map(
    ([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`,
  );
  const headers = { ...TUS, 'Upload-Length': String(length), 'Upload-Metadata': pairs.join(',') };
  let givenUp: AbandonedUploads | undefined;
  for (;;) {
    // An upload whose creation is lost expires.
    const { answer } = await connection.ask('POST', uploads, { headers, repeatable: true, handled: 429 });
    if (isSuccess(answer)) return locationIn(answer);
    givenUp ??= kept.abandoned();
    if (answer.status !== 429 || !(await removeOne(givenUp, connection))) throw new Refused(answer);
    note('The limit of open uploads is reached: removed an abandoned upload of yours.');
  }
}

/** Removes the first upload that still exists; resolves to `false` if none did. */
async function removeOne(givenUp: AbandonedUploads, connection: Connection): Promise<boolean> {
  for (let next = givenUp.shift(); next; next = givenUp.shift()) {
    const { answer } = await connection.ask('DELETE', next.upload, { headers: TUS, repeatable: true });
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
