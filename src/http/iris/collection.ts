import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { badRequest } from '../../sword/sword-error.ts';
import type { DryRunHandler } from '../http-module.ts';
import { bodyKind, isDryRun, parseDepositRequest } from '../requests/deposit-request.ts';
import { answerDepositList } from '../responses/answer-deposit-list.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import type { DepositWrites } from '../writes/deposit-writes.ts';
import { grantedCollection } from './deposit-resource.ts';
import { resource } from './resource.ts';

/** COL-IRI: lists the client's deposits, and creates them from an archive, an entry, or both. */
export function collectionIri(
  writes: DepositWrites,
  depositService: DepositService,
  language: RenderContext,
  dryRun: DryRunHandler | undefined,
): ServiceMiddleware {
  return resource<CollectionView>({
    find: async (ctx) => writes.collection(grantedCollection(ctx)),
    handlers: {
      GET: async (ctx, collection) => answerDepositList(ctx, collection, depositService, language),
      POST: async (ctx, view) => {
        if (isDryRun(ctx)) {
          if (dryRun) return dryRun.answer(ctx, view);
          throw badRequest('This service makes no dry runs: send the request without dry-run=true.');
        }
        const { collection } = view;
        const request = parseDepositRequest(ctx);
        const accepted = { archives: await writes.archiveTypes(ctx, collection), entry: true };
        const body = bodyKind(ctx, accepted);
        const content = await writes.receiveDeposit(ctx, request, body, accepted);
        const written = await writes.create(ctx, collection, content, request);
        await writes.answerCreated(ctx, written, 'edit');
      },
    },
  });
}
