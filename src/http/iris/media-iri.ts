import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import type { Change } from '../../domain/deposit/commands.ts';
import { answerArchives } from '../answer-archives.ts';
import { bodyKind, parseDepositRequest } from '../deposit-request.ts';
import { assertPartialNow, depositResource } from '../deposit-resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import type { DepositWrites } from '../write-deposits.ts';

/** EM-IRI: the archives of a deposit. */
export function mediaIri(writes: DepositWrites, store: ArchiveStore): ServiceMiddleware {
  return depositResource<DepositContentView>((id) => writes.find(id), {
    GET: async (ctx, deposit) => answerArchives(ctx, deposit, store),
    POST: async (ctx, deposit) => {
      await changeArchives(ctx, deposit, 'add-content');
      writes.answerCreated(ctx, await writes.shown(deposit.depositId), 'media');
    },
    PUT: async (ctx, deposit) => {
      await changeArchives(ctx, deposit, 'replace-content');
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      assertPartialNow(ctx, deposit);
      writes.assertMatches(ctx, deposit);
      await writes.change(ctx, deposit, { kind: 'remove-archives' }, false);
      ctx.status = 204;
    },
  });

  async function changeArchives(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: Exclude<Change['kind'], 'remove-archives'>,
  ): Promise<void> {
    const request = parseDepositRequest(ctx);
    assertPartialNow(ctx, deposit);
    writes.assertMatches(ctx, deposit);
    const { accept } = writes.collection(deposit.collection);
    const accepted = { archives: accept, entry: false };
    const content = await writes.receive(ctx, request, bodyKind(ctx, accepted), accepted);
    // Absent means unchanged here: several clients add archive after archive without the header.
    await writes.change(ctx, deposit, { kind, ...content }, request.inProgress === false);
  }
}
