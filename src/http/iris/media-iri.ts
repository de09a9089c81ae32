import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import type { Language } from '../../sword/documents/language.ts';
import { answerArchives } from '../answering/answer-archives.ts';
import { answerMediaFeed, prefersFeed } from '../answering/answer-media-feed.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource } from '../deposit-resource.ts';
import { assertChangeable } from '../receiving/assert-changeable.ts';
import type { ContentChange, DepositWrites, Written } from '../receiving/write-deposits.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** EM-IRI: the archives of a deposit. */
export function mediaIri(
  writes: DepositWrites,
  store: ArchiveStore,
  desk: DepositDesk,
  language: Language,
): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => desk.content(id), {
    GET: async (ctx, deposit) => {
      if (prefersFeed(ctx, deposit)) await answerMediaFeed(ctx, deposit, desk, language);
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
    // Absent means unchanged here: several clients add archive after archive without the header.
    return writes.changeContent(ctx, deposit, kind, accepted, (inProgress) => inProgress === false);
  }
}
