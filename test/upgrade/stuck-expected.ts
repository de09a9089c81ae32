import type { Expected, FrozenDeposit } from './expected.ts';

/** The fixture `stuck`: a log whose groups passed events that no node had acknowledged. */
export type StuckExpected = Pick<Expected, 'baseUrl' | 'password'> & {
  readonly deposits: readonly (FrozenDeposit & {
    /** When it was frozen, and for good in the old release. */
    readonly frozen: string;
    /** The outcome of a correct check of its archive. */
    readonly finished: string;
  })[];
  readonly receivers: Expected['receivers'];
};
