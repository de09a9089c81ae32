/** The final outcome of a deposit. */
export type Expected =
  /** All identifiers are assigned. */
  | { readonly outcome: 'done' }
  /** The upload is accepted; the check rejects it with a reason that matches. */
  | { readonly outcome: 'rejected'; readonly reason: RegExp }
  /** The upload is refused, with this status and a sentence that matches. */
  | { readonly outcome: 'refused'; readonly status: number; readonly reason: RegExp };

/** An archive that is sent with a valid entry. */
export type ArchiveCase = {
  readonly name: string;
  /** One sentence. */
  readonly what: string;
  readonly mediaType: 'application/zip' | 'application/x-tar';
  /** Returns the bytes when they are needed: some are large. */
  readonly bytes: () => Buffer;
  readonly expected: Expected;
};

/** A metadata entry that is sent with a valid archive. */
export type EntryCase = {
  readonly name: string;
  /** One sentence. */
  readonly what: string;
  readonly bytes: () => Buffer;
  /** Media type of its part. */
  readonly mediaType: string;
  readonly expected: Expected;
};

export const done: Expected = { outcome: 'done' };

export function rejected(reason: RegExp): Expected {
  return { outcome: 'rejected', reason };
}

export function refused(status: number, reason: RegExp): Expected {
  return { outcome: 'refused', status, reason };
}

type Row = readonly [name: string, what: string, bytes: Buffer | (() => Buffer), expected: Expected];

/** Archives sent as zips. */
export function zips(rows: readonly Row[]): ArchiveCase[] {
  return rows.map(archiveCase('application/zip'));
}

/** Archives sent as tars, compressed or not. */
export function tars(rows: readonly Row[]): ArchiveCase[] {
  return rows.map(archiveCase('application/x-tar'));
}

function archiveCase(mediaType: ArchiveCase['mediaType']) {
  return ([name, what, bytes, expected]: Row): ArchiveCase => {
    return { name, what, mediaType, bytes: typeof bytes === 'function' ? bytes : () => bytes, expected };
  };
}

type EntryRow = readonly [
  name: string,
  what: string,
  bytes: string | Buffer,
  expected: Expected,
  charset?: string,
];

/** Returns entries without a charset, which declare their encoding themselves. */
export function entries(rows: readonly EntryRow[]): EntryCase[] {
  return rows.map(([name, what, bytes, expected, charset]) => {
    const mediaType = `application/atom+xml;type=entry${charset === undefined ? '' : `;charset=${charset}`}`;
    return { name, what, mediaType, bytes: () => Buffer.from(bytes), expected };
  });
}
