import { gitObjectId } from '../../src/swhid/git-object.ts';
import { formatSignature, type GitTime, headerLine } from '../../src/swhid/revision.ts';

export type Release = {
  readonly target: string;
  readonly targetType: keyof typeof gitTypes;
  readonly name: string;
  readonly author: { readonly fullname: string; readonly time: GitTime | null } | null;
  readonly message: string | null;
};

const gitTypes = { content: 'blob', directory: 'tree', revision: 'commit', release: 'tag' } as const;

/**
 * Returns the id of a release. The service creates none.
 */
export function releaseId(release: Release): string {
  return gitObjectId('tag', releaseBody(release));
}

export function releaseBody({ target, targetType, name, author, message }: Release): Buffer {
  const headers = [
    headerLine('object', target),
    headerLine('type', gitTypes[targetType]),
    headerLine('tag', name),
    author === null ? '' : headerLine('tagger', tagger(author)),
  ];
  return Buffer.from(headers.join('') + (message === null ? '' : `\n${message}`));
}

function tagger({ fullname, time }: NonNullable<Release['author']>): string {
  return time === null ? fullname : formatSignature({ fullname, time });
}
