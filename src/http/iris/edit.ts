import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { removeDeposit } from '../../deposits/change.ts';
import type { WriteParts } from '../handler-parts.ts';
import { answerCreated, answerReceipt, withTag } from '../responses/answer-receipt.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { adding, checkAndChange, checkChange, replacing } from './change-deposit.ts';
import { complete, isCompletion } from './completion.ts';
import { depositResource, isPossible } from './deposit-resource.ts';
import { swhidText, update } from './metadata-update.ts';
import type { Method } from './resource.ts';

/** Edit-IRI and SE-IRI: the receipt, the metadata, completion and deletion. */
export function editHandler(parts: WriteParts): ServiceMiddleware {
  const { deposits } = parts;
  return depositResource(
    deposits.queries.ownContent,
    {
      GET: async (ctx, deposit) => answerReceipt(ctx, deposit, parts),
      POST: async (ctx, deposit) => {
        if (await isCompletion(parts, ctx, deposit)) await complete(parts, ctx, deposit);
        else await add(parts, ctx, deposit);
      },
      PUT: async (ctx, deposit) => {
        if (swhidText(ctx) === undefined)
          await checkAndChange(parts, ctx, deposit, 'replaceOnEdit', replacing);
        else withTag(ctx, await update(parts, ctx, deposit));
        ctx.status = 204;
      },
      DELETE: async (ctx, deposit) => {
        const write = await checkChange(parts, ctx, deposit, 'remove');
        await removeDeposit(deposits, deposit.depositId, write);
        ctx.status = 204;
      },
    },
    isPossibleHere,
  );
}

/**
 * Returns whether the method is possible: any on a partial deposit, and PUT of metadata on one that is done, if the
 * request names its SWHID.
 */
function isPossibleHere(deposit: DepositContentView, method: Method, ctx: ServiceContext): boolean {
  if (isPossible(deposit, method)) return true;
  const isUpdate = method === 'PUT' && deposit.status === 'done';
  return isUpdate && (ctx.method === 'OPTIONS' || swhidText(ctx) !== undefined);
}

async function add(parts: WriteParts, ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
  const added = await checkAndChange(parts, ctx, deposit, 'addToEdit', adding);
  await answerCreated(ctx, added, 'edit', parts);
}
