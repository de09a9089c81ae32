import type { ShownDeposit } from './shown-deposit.ts';

/** What the Statement tells: where a deposit stands, and what was deposited (SWORD 2.0, section 11). */
export type Statement = Pick<
  ShownDeposit,
  'depositId' | 'uuid' | 'collection' | 'title' | 'author' | 'updatedAt' | 'status' | 'statusDetail'
> & {
  /** In upload order. */
  readonly archives: readonly StatedArchive[];
};

export type StatedArchive = {
  /** Within the deposit, for good. */
  readonly number: number;
  readonly filename: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly length: number;
  readonly sha256: string;
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Of the event by which it came: no other archive of the deposit has it. */
  readonly revision: number;
};

/** Names the status for programs. */
export function stateIri({ status }: Pick<Statement, 'status'>, depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/state/${status}`;
}

/** Whole seconds: the best-known client library reads no other form. */
export function depositedOn({ depositedOn: time }: StatedArchive): string {
  return time.replace(/\.\d+Z$/, 'Z');
}
