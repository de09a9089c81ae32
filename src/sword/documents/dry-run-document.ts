import type { DepositModel } from './deposit-model.ts';
import { authorFact, type Document, depositFields, onlyJson, text } from './document.ts';

/** Result of a dry run, which creates no deposit. */
export type DryRunDocument = Pick<DepositModel, 'title' | 'client' | 'updatedAt' | 'statusDetail'> & {
  /** UUID of the request. */
  readonly requestId: string;
  readonly status: 'rejected' | 'verified' | 'done';
};

/** Describes a status document without an id, since there is no deposit. */
export function dryRunDocument({
  requestId,
  title,
  client,
  updatedAt,
  status,
  statusDetail,
}: DryRunDocument): Document {
  return {
    element: 'entry',
    facts: [
      text('id', `urn:uuid:${requestId}`),
      text('title', title ?? 'Dry run'),
      text('updated', updatedAt),
      authorFact(client),
      ...onlyJson({ dry_run: true }),
      ...depositFields({ deposit_status: status, deposit_status_detail: statusDetail }),
    ],
  };
}
