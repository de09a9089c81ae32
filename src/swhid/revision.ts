import { gitObjectId } from './git-object.ts';
import { formatSignature, headerLine, type Signature } from './signature.ts';

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
