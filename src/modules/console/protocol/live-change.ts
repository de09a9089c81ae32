import type { DepositRow } from './deposit-list.ts';

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
  /** The deposit after the change; `null` if it is deleted. */
  readonly row: DepositRow | null;
};
