import type { CollectionView } from '../../../projections/collections.ts';
import { createDeposit } from '../../deposits/create.ts';
import { badRequest } from '../../sword/sword-error.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import type { WriteParts } from '../handler-parts.ts';
import type { DryRunHandler } from '../http-module.ts';
import { isDryRun } from '../requests/dry-run-parameter.ts';
import { collectionNamed, grantedCollection } from '../requests/path-names.ts';
import { WRITES } from '../requests/writes-by-iri.ts';
import { answerDepositList } from '../responses/answer-deposit-list.ts';
import { answerCreated } from '../responses/answer-receipt.ts';
import { LISTS, LongAnswers } from '../responses/long-answers.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { resource } from './resource.ts';

/** Maximum number of characters of cached list entries, which have some 1,500 each. */
const ENTRY_CHARACTERS = 4 * 1024 ** 2;

/** COL-IRI: lists the client's deposits, and creates them from an archive, an entry, or both. */
export function collectionHandler(parts: WriteParts, dryRun: DryRunHandler | undefined): ServiceMiddleware {
  const { checkWrite, deposits, collections, iris } = parts;
  const lists = {
    longAnswers: new LongAnswers(LISTS),
    entryTexts: new LruCache<string>(ENTRY_CHARACTERS, ({ length }) => length),
  };
  return resource<CollectionView>({
    find: async (ctx) => collectionNamed(collections, grantedCollection(ctx)),
    handlers: {
      GET: (ctx, collection) => answerDepositList(ctx, collection, deposits.queries, parts, lists),
      POST: async (ctx, view) => {
        if (!isDryRun(ctx)) return create(ctx, view);
        if (dryRun) return dryRun(ctx, view);
        throw badRequest('This service does not support dry runs: send the request without dry-run=true.');
      },
    },
  });

  async function create(ctx: ServiceContext, { collection }: CollectionView): Promise<void> {
    const write = await checkWrite({ ctx, rule: WRITES.create, collection });
    const created = await createDeposit(deposits, { ...write, collection, iris });
    await answerCreated(ctx, created, 'edit', parts);
  }
}
