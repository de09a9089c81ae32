import type { CollectionView } from '../../../projections/collections.ts';
import { bodyKind, parseDepositRequest } from '../deposit-request.ts';
import { assertGranted, paramsOf } from '../deposit-resource.ts';
import { resource } from '../resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import type { DepositWrites } from '../write-deposits.ts';

/** COL-IRI: creates deposits, from an archive, an entry, or both. */
export function collectionIri(writes: DepositWrites): ServiceMiddleware {
  return resource<CollectionView>({
    find: async (ctx) => {
      const { collection } = paramsOf(ctx);
      assertGranted(ctx, collection);
      return writes.collection(collection);
    },
    handlers: {
      POST: async (ctx, { collection, accept }) => {
        const request = parseDepositRequest(ctx);
        const accepted = { archives: accept, entry: true };
        const content = await writes.receive(ctx, request, bodyKind(ctx, accepted), accepted);
        const deposit = await writes.create(ctx, collection, content, request);
        writes.answerCreated(ctx, deposit, 'edit');
      },
    },
  });
}
