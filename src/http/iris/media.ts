import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { assertChangeable } from '../requests/preconditions.ts';
import { answerArchives } from '../responses/answer-archives.ts';
import { answerMediaFeed, prefersFeed } from '../responses/answer-media-feed.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import type { ContentChange, DepositWrites, Written } from '../writes/deposit-writes.ts';
import { depositResource } from './deposit-resource.ts';

/** EM-IRI: the archives of a deposit. */
export function mediaIri(
  writes: DepositWrites,
  store: ObjectStore,
  depositService: DepositService,
  renderContext: RenderContext,
): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => depositService.content(id), {
    GET: async (ctx, deposit) => {
      if (prefersFeed(ctx, deposit)) await answerMediaFeed(ctx, deposit, depositService, renderContext);
      else await answerArchives(ctx, deposit, store);
    },
    POST: async (ctx, deposit) => {
      await writes.answerCreated(ctx, await changeArchives(ctx, deposit, 'add-content'), 'media');
    },
    PUT: async (ctx, deposit) => {
      await changeArchives(ctx, deposit, 'replace-content');
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      assertChangeable(ctx, deposit);
      await writes.change(ctx, deposit, { kind: 'remove-archives' }, false);
      ctx.status = 204;
    },
  });

  async function changeArchives(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: ContentChange,
  ): Promise<Written> {
    const accepted = { archives: await writes.archiveTypes(ctx, deposit.collection), entry: false };
    // Without the header, the deposit stays partial: several clients add archive after archive without it.
    return writes.changeContent(ctx, deposit, kind, accepted, (inProgress) => inProgress === false);
  }
}
