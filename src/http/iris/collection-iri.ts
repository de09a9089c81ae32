import type { CollectionView } from '../../../projections/collections.ts';
import type { Language } from '../../sword/documents/language.ts';
import { answerDepositList } from '../answering/answer-deposit-list.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { grantedCollection } from '../deposit-resource.ts';
import { bodyKind, isDryRun, parseDepositRequest } from '../receiving/deposit-request.ts';
import type { DryRuns } from '../receiving/dry-run.ts';
import type { DepositWrites } from '../receiving/write-deposits.ts';
import { resource } from '../resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

/** COL-IRI: lists the client's deposits, and creates them from an archive, an entry, or both. */
export function collectionIri(
  writes: DepositWrites,
  desk: DepositDesk,
  language: Language,
  dryRuns: DryRuns,
): ServiceMiddleware {
  return resource<CollectionView>({
    find: async (ctx) => writes.collection(grantedCollection(ctx)),
    handlers: {
      GET: async (ctx, collection) => answerDepositList(ctx, collection, desk, language),
      POST: async (ctx, view) => {
        if (isDryRun(ctx)) return dryRuns.answer(ctx, view);
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
