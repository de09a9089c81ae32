import { type Offers, PAGE } from '../../sword/headers/accept.ts';
import type { ReadParts, WriteParts } from '../handler-parts.ts';
import { answerArchives, type Downloads } from '../responses/answer-archives.ts';
import { answerMediaFeed, MEDIA_FEED_OFFERS, prefersFeed } from '../responses/answer-media-feed.ts';
import { answerCreated } from '../responses/answer-receipt.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { adding, checkAndChange, replacing } from './change-deposit.ts';
import { depositResource } from './deposit-resource.ts';

/** The archives of a deposit as a feed, also for clients that accept none: many send no `Accept`. A page for people. */
export function mediaFeedHandler(parts: ReadParts): ServiceMiddleware {
  const offers: Offers = [MEDIA_FEED_OFFERS[0], PAGE];
  return depositResource(parts.queries.ownContent, {
    GET: async (ctx, deposit) => answerMediaFeed(ctx, deposit, parts, offers),
  });
}

/** EM-IRI: the archives of a deposit. */
export function mediaHandler(parts: WriteParts, downloads: Downloads): ServiceMiddleware {
  const { queries } = parts.deposits;
  return depositResource(queries.ownContent, {
    GET: async (ctx, deposit) => {
      if (prefersFeed(ctx, deposit)) answerMediaFeed(ctx, deposit, parts);
      else await answerArchives(ctx, deposit, downloads);
    },
    POST: async (ctx, deposit) => {
      const added = await checkAndChange(parts, ctx, deposit, 'addToMedia', adding);
      await answerCreated(ctx, added, 'media', parts);
    },
    PUT: async (ctx, deposit) => {
      await checkAndChange(parts, ctx, deposit, 'replaceMedia', replacing);
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      await checkAndChange(parts, ctx, deposit, 'remove', () => ({ kind: 'remove-archives' }));
      ctx.status = 204;
    },
  });
}
