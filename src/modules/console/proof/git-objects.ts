import { type Bytes, bytesOf, digest, joined, latin1Bytes } from './digests.ts';

/** Returns the SHA-1 of a git object, as SWHID has it: 40 hex digits. */
async function gitObjectId(type: 'blob' | 'tree' | 'commit' | 'snapshot', body: Bytes): Promise<string> {
  return (await digest('SHA-1', joined(bytesOf(`${type} ${body.length}\0`), body))).toHex();
}

/** An entry of a directory. */
export type TreeEntry = {
  readonly mode: string;
  /** Latin1 string of raw bytes. */
  readonly name: string;
  /** 40 hex digits. */
  readonly id: string;
};

export const DIRECTORY_MODE = '40000';

export function directoryId(entries: readonly TreeEntry[]): Promise<string> {
  const sorted = entries.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  const parts = sorted.flatMap(({ mode, name, id }) => [
    latin1Bytes(`${mode} ${name}\0`),
    Uint8Array.fromHex(id),
  ]);
  return gitObjectId('tree', joined(...parts));
}

/** Returns the key by which git sorts entries: by their bytes, directories as if their names ended with a slash. */
function sortKey({ mode, name }: TreeEntry): string {
  return mode === DIRECTORY_MODE ? `${name}/` : name;
}

/** The data of an event DepositCreated, as far as identifiers depend on it. */
export type CreatedData = { readonly client: string; readonly collection: string };

/** The data of an event DepositLoaded, as far as they are recomputed. */
export type LoadedData = {
  readonly depositId: number;
  readonly directory: string;
  readonly revision: string;
  readonly snapshot: string;
  readonly identity: string;
  readonly authorDate: GitDate;
  readonly committerDate: GitDate;
  readonly archives: readonly string[];
  readonly manifest: string;
};

type GitDate = { readonly seconds: number; readonly offset: string };

/** Returns the id of the revision of a loaded deposit by the recipe `swh-1`. */
export function revisionId({ client, collection }: CreatedData, loaded: LoadedData): Promise<string> {
  const { depositId, directory, identity, authorDate, committerDate } = loaded;
  const text = [
    `tree ${directory}`,
    `author ${signature(identity, authorDate)}`,
    `committer ${signature(identity, committerDate)}`,
    '',
    `${client}: Deposit ${depositId} in collection ${collection}`,
  ].join('\n');
  return gitObjectId('commit', bytesOf(text));
}

/** Returns the id of the snapshot whose HEAD is a revision. */
export function snapshotId(revision: string): Promise<string> {
  const head = bytesOf('revision HEAD\x0020:');
  return gitObjectId('snapshot', joined(head, Uint8Array.fromHex(revision)));
}

function signature(identity: string, { seconds, offset }: GitDate): string {
  return `${identity} ${seconds} ${offset}`;
}
