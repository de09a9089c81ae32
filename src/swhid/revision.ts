import { gitObjectId } from './git-object.ts';

/** A time as git writes it: seconds since 1970 and the offset of the time zone, such as `+0200`. */
export type GitTime = { readonly seconds: number; readonly microseconds?: number; readonly offset: string };

export type Signature = {
  /** `Name <address>`, used unchanged. */
  readonly fullname: string;
  readonly time: GitTime;
};

export type Revision = {
  /** Directory id, 40 hex digits. */
  readonly directory: string;
  readonly parents?: readonly string[];
  readonly author: Signature;
  readonly committer: Signature;
  readonly extraHeaders?: readonly (readonly [key: string, value: string])[];
  /** `null` omits even the blank line before it, which gives another id than an empty message. */
  readonly message: string | null;
};

export function revisionId(revision: Revision): string {
  return gitObjectId('commit', revisionBody(revision));
}

export function revisionBody(revision: Revision): Buffer {
  const headers = [
    headerLine('tree', revision.directory),
    ...(revision.parents ?? []).map((parent) => headerLine('parent', parent)),
    headerLine('author', formatSignature(revision.author)),
    headerLine('committer', formatSignature(revision.committer)),
    ...(revision.extraHeaders ?? []).map(([key, value]) => headerLine(key, value)),
  ];
  const message = revision.message === null ? '' : `\n${revision.message}`;
  return Buffer.from(headers.join('') + message);
}

export function formatSignature({ fullname, time }: Signature): string {
  return `${fullname} ${time.seconds}${fraction(time.microseconds ?? 0)} ${time.offset}`;
}

/** Formats a header line. A space continues a line break inside the value, so no value can add a header. */
export function headerLine(key: string, value: string): string {
  return `${key} ${value.replaceAll('\n', '\n ')}\n`;
}

function fraction(microseconds: number): string {
  return microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0').replace(/0+$/, '')}`;
}
