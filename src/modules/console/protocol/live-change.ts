import type { Status } from '../../../domain/deposit/status-detail.ts';

/** A change of a deposit, as the server reports it to open pages. */
export type LiveChange = {
  readonly depositId: number;
  /** Number of the event in the stream of the deposit. */
  readonly revision: number;
  readonly type: string;
  readonly sentence: string;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly actor: { readonly kind: string; readonly name: string };
  /** After the change; `null` if the deposit is deleted. */
  readonly status: Status | null;
  readonly title: string | null;
  readonly reasonCodes: readonly string[];
  /** The SWHID of the directory, once the deposit is done. */
  readonly swhid: string | null;
  readonly client: string | null;
  readonly collection: string | null;
};
