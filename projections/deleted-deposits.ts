import { deposits } from '../src/domain/aggregates.ts';
import type { DepositEvent } from '../src/domain/deposit/events.ts';
import type { Projection } from '../src/views/projection.ts';

/** A deposit that was deleted and is therefore missing in other views. */
export type DeletedDeposit = {
  readonly depositId: number;
  /** Revision of its last event, and when that happened: RFC 3339, UTC. */
  readonly revision: number;
  readonly deletedAt: string;
};

export const deletedDeposits: Projection<DeletedDeposit, DepositEvent> = {
  name: 'deleted-deposits',
  version: 2,
  source: deposits,
  indexes: [['deletedAt']],
  when: {
    DepositDeleted: (_, { data: { depositId }, revision, occurredAt }) => ({
      depositId,
      revision,
      deletedAt: occurredAt,
    }),
  },
};
