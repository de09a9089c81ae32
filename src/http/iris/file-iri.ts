import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import { assertMayStayPartial } from '../../domain/deposit/limits.ts';
import type { NumberedArchive } from '../../domain/deposit/numbered-archives.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { answerArchive } from '../answering/answer-archives.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { findDeposit, isPossible, paramsOf } from '../deposit-resource.ts';
import { assertChangeable } from '../receiving/assert-changeable.ts';
import { bodyKind, parseDepositRequest } from '../receiving/deposit-request.ts';
import type { DepositWrites } from '../receiving/write-deposits.ts';
import { resource } from '../resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

type File = { readonly deposit: DepositContentView; readonly archive: NumberedArchive };

/** File-IRI: one archive of a deposit. */
export function fileIri(writes: DepositWrites, store: ArchiveStore, desk: DepositDesk): ServiceMiddleware {
  return resource<File>({
    find: async (ctx) => {
      const deposit = await findDeposit(ctx, (id) => desk.content(id));
      const { file } = paramsOf(ctx);
      const archive = deposit.archives.find(({ number }) => String(number) === file);
      if (archive) return { deposit, archive };
      throw notFound(`Deposit ${deposit.depositId} has no archive number ${file}.`);
    },
    possible: ({ deposit }, method) => isPossible(deposit, method),
    handlers: {
      GET: async (ctx, { deposit, archive }) => answerArchive(ctx, deposit, archive, store),
      PUT: async (ctx, { deposit, archive: { number } }) => {
        const request = parseDepositRequest(ctx);
        assertChangeable(ctx, deposit);
        const accepted = { archives: writes.collection(deposit.collection).accept, entry: false };
        const body = bodyKind(ctx, accepted);
        // Absent means unchanged, as on the EM-IRI.
        const isFinal = request.inProgress === false;
        if (!isFinal) assertMayStayPartial(deposit.depositId, deposit.revision + 1);
        const { archive } = await writes.receive(ctx, request, body, accepted);
        if (!archive) throw badRequest('The request brings no archive.');
        await writes.change(ctx, deposit, { kind: 'replace-archive', number, archive }, isFinal);
        ctx.status = 204;
      },
      DELETE: async (ctx, { deposit, archive: { number } }) => {
        assertChangeable(ctx, deposit);
        await writes.change(ctx, deposit, { kind: 'remove-archive', number }, false);
        ctx.status = 204;
      },
    },
  });
}
