import { Refusal } from '../decider.ts';

export type DepositRefusalCode =
  | 'DEPOSIT_EXISTS'
  | 'DEPOSIT_NOT_FOUND'
  | 'DEPOSIT_NOT_PARTIAL'
  | 'NOTHING_DEPOSITED'
  | 'ARCHIVE_NOT_FOUND'
  | 'TOO_MANY_ARCHIVES'
  | 'TOO_MANY_ENTRIES'
  | 'ORIGIN_OUTSIDE_PROVIDER'
  | 'ORIGIN_UNKNOWN'
  | 'DEPOSIT_NOT_REJECTED'
  | 'DEPOSIT_NOT_FAILED';

export class DepositRefusal extends Refusal<DepositRefusalCode> {}
