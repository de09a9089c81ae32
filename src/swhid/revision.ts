import { gitObjectId } from './git-object.ts';

/** A time as git writes it: seconds since 1970 and the offset of the time zone, such as `+0200`. */
export type GitTime = { readonly seconds: number; readonly offset: string };

type Signature = {
  /** `Name <address>`, in one line. */
  readonly fullname: string;
  readonly time: GitTime;
};

/** A revision without parents. */
export type Revision = {
  /** Directory id, 40 hex digits. */
  readonly directory: string;
  readonly author: Signature;
  readonly committer: Signature;
  readonly message: string;
};

export function revisionId(revision: Revision): string {
  return gitObjectId('commit', revisionBody(revision));
}

export function revisionBody({ directory, author, committer, message }: Revision): Buffer {
  const headers = [
    `tree ${directory}`,
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
  ];
  return Buffer.from(`${headers.join('\n')}\n\n${message}`);
}

function formatSignature({ fullname, time }: Signature): string {
  return `${fullname} ${time.seconds} ${time.offset}`;
}
