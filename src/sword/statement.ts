import { ZIP_TYPE } from './media-type.ts';
import { BINARY, SIMPLE_ZIP } from './namespaces.ts';
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

/** That of the archive by itself, as the EM-IRI gives it. */
export function packagingOf({ mediaType }: Pick<StatedArchive, 'mediaType'>): string {
  return mediaType === ZIP_TYPE ? SIMPLE_ZIP : BINARY;
}

/** Names the status for programs. */
export function stateIri({ status }: Pick<Statement, 'status'>, depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/state/${status}`;
}

/** Whole seconds: the best-known client library reads no other form. */
export function depositedOn({ depositedOn: time }: StatedArchive): string {
  return time.replace(/\.\d+Z$/, 'Z');
}
