import type { GitTime, Revision } from './revision.ts';

/** Input of the revision of a loaded deposit; all of it is in events. */
type RevisionFacts = {
  readonly client: string;
  readonly depositId: number;
  readonly collection: string;
  readonly directory: string;
  /** Author and committer. */
  readonly identity: string;
  readonly authorDate: GitTime;
  readonly committerDate: GitTime;
};

/** Returns the revision by the recipe `swh-1`. */
export function depositRevision(facts: RevisionFacts): Revision {
  const { client, depositId, collection, directory, identity, authorDate, committerDate } = facts;
  return {
    directory,
    author: { fullname: identity, time: authorDate },
    committer: { fullname: identity, time: committerDate },
    message: `${client}: Deposit ${depositId} in collection ${collection}`,
  };
}
