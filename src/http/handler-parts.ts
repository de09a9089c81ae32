import type { DepositParts } from '../deposits/client-write.ts';
import type { DepositQueries } from '../deposits/queries.ts';
import type { RenderContext } from '../sword/documents/document.ts';
import type { CheckWrite } from './requests/write-checks.ts';
import type { ReceiptOptions } from './responses/answer-receipt.ts';
import type { ResponseCache } from './responses/response-cache.ts';

/** The parts that handlers of reads share: the views of deposits, how to show them, and the cache of answers. */
export type ReadParts = RenderContext & { readonly queries: DepositQueries; readonly cache: ResponseCache };

/** The parts that handlers of writes share: the checks before, the use cases, the receipts after. */
export type WriteParts = ReceiptOptions & {
  readonly checkWrite: CheckWrite;
  readonly deposits: DepositParts;
};
