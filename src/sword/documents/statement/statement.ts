import type { DepositModel } from '../deposit-model.ts';

/** Content of the Statement: the state of a deposit and its archives (SWORD 2.0, section 11). */
export type Statement = Pick<
  DepositModel,
  'depositId' | 'uuid' | 'collection' | 'title' | 'author' | 'updatedAt' | 'status' | 'statusDetail'
> & {
  /** In upload order. */
  readonly archives: readonly StatedArchive[];
};

export type StatedArchive = {
  /** Number within the deposit; it never changes. */
  readonly number: number;
  readonly filename: string;
  readonly mediaType: string;
  /** Number of bytes. */
  readonly length: number;
  readonly sha256: string;
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Revision of the event that added it, which is unique within the deposit. */
  readonly revision: number;
};

/** Returns the IRI of the status, for programs. */
export function stateIri({ status }: Pick<Statement, 'status'>, depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/state/${status}`;
}

/** Returns the time in whole seconds: the most common client library reads no other form. */
export function depositedOn({ depositedOn: time }: StatedArchive): string {
  return time.replace(/\.\d+Z$/, 'Z');
}
