import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import { assertChangeLimit } from '../../domain/deposit/limits.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { bodyKind, parseDepositRequest } from '../requests/deposit-request.ts';
import { assertChangeable } from '../requests/preconditions.ts';
import { answerArchive } from '../responses/answer-archives.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import type { DepositWrites } from '../writes/deposit-writes.ts';
import { findDeposit, isPossible, paramsOf } from './deposit-resource.ts';
import { resource } from './resource.ts';

type File = { readonly deposit: DepositContentView; readonly archive: NumberedArchive };

/** File-IRI: one archive of a deposit. */
export function fileIri(
  writes: DepositWrites,
  store: ObjectStore,
  depositService: DepositService,
): ServiceMiddleware {
  return resource<File>({
    find: async (ctx) => {
      const deposit = await findDeposit(ctx, (id) => depositService.content(id));
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
        // Without the header, the deposit stays partial, as on the EM-IRI.
        const isFinal = request.inProgress === false;
        if (!isFinal) assertChangeLimit(deposit.depositId, deposit.revision + 1);
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
