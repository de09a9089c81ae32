import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { changeContent } from '../../deposits/change.ts';
import type { Written } from '../../deposits/client-write.ts';
import type { DepositQueries } from '../../deposits/queries.ts';
import type { Change } from '../../domain/deposit/commands.ts';
import type { RenderContext } from '../../sword/documents/document.ts';
import { type Offers, PAGE } from '../../sword/headers/negotiate.ts';
import { WRITES } from '../requests/write-checks.ts';
import { answerArchives, type Downloads } from '../responses/answer-archives.ts';
import { answerCreated, type WriteParts, withTag } from '../responses/answer-documents.ts';
import { answerMediaFeed, MEDIA_FEED_OFFERS, prefersFeed } from '../responses/answer-media-feed.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositResource } from './deposit-resource.ts';

/** The archives of a deposit as a feed, also for clients that accept none: many send no `Accept`. A page for people. */
export function mediaFeedIri(queries: DepositQueries, renderContext: RenderContext): ServiceMiddleware {
  const offers: Offers = [MEDIA_FEED_OFFERS[0], PAGE];
  return depositResource<DepositContentView>((id, client) => queries.ownContent(id, client), {
    GET: (ctx, deposit) => answerMediaFeed(ctx, deposit, queries, renderContext, offers),
  });
}

/** EM-IRI: the archives of a deposit. */
export function mediaIri(
  parts: WriteParts,
  downloads: Downloads,
  renderContext: RenderContext,
): ServiceMiddleware {
  const { checks, deposits } = parts;
  return depositResource<DepositContentView>((id, client) => deposits.queries.ownContent(id, client), {
    GET: async (ctx, deposit) => {
      if (prefersFeed(ctx, deposit)) await answerMediaFeed(ctx, deposit, deposits.queries, renderContext);
      else await answerArchives(ctx, deposit, downloads);
    },
    POST: async (ctx, deposit) => {
      await answerCreated(ctx, await change(ctx, deposit, 'addToMedia', 'add-content'), 'media', parts);
    },
    PUT: async (ctx, deposit) => {
      await change(ctx, deposit, 'replaceMedia', 'replace-content');
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      await change(ctx, deposit, 'remove', 'remove-archives');
      ctx.status = 204;
    },
  });

  async function change(
    ctx: ServiceContext,
    deposit: DepositContentView,
    write: keyof typeof WRITES,
    kind: Extract<Change['kind'], 'add-content' | 'replace-content' | 'remove-archives'>,
  ): Promise<Written> {
    const { collection, depositId } = deposit;
    const passed = await checks.run({ ctx, rule: WRITES[write], collection, deposit });
    const changed = changeContent(deposits, depositId, passed, (content) => ({ kind, ...content }));
    return withTag(ctx, await changed);
  }
}
