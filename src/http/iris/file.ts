import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import type { WriteParts } from '../handler-parts.ts';
import { paramsOf } from '../requests/path-names.ts';
import { answerArchive, type Downloads } from '../responses/answer-archives.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { checkAndChange } from './change-deposit.ts';
import { findDeposit, isPossible } from './deposit-resource.ts';
import { resource } from './resource.ts';

type File = { readonly deposit: DepositContentView; readonly archive: NumberedArchive };

/** File-IRI: one archive of a deposit. */
export function fileHandler(parts: WriteParts, downloads: Downloads): ServiceMiddleware {
  const { queries } = parts.deposits;
  return resource<File>({
    find: async (ctx) => {
      const deposit = await findDeposit(ctx, queries.ownContent);
      const { file } = paramsOf(ctx);
      const archive = deposit.archives.find(({ number }) => String(number) === file);
      if (archive) return { deposit, archive };
      throw notFound(`Deposit ${deposit.depositId} has no archive number ${file}.`);
    },
    possible: ({ deposit }, method) => isPossible(deposit, method),
    handlers: {
      GET: async (ctx, { deposit, archive }) => answerArchive(ctx, deposit, archive, downloads),
      PUT: async (ctx, { deposit, archive: { number } }) => {
        await checkAndChange(parts, ctx, deposit, 'replaceFile', ({ archive }) => {
          if (!archive) throw badRequest('The request contains no archive.');
          return { kind: 'replace-archive', number, archive };
        });
        ctx.status = 204;
      },
      DELETE: async (ctx, { deposit, archive: { number } }) => {
        await checkAndChange(parts, ctx, deposit, 'remove', () => ({ kind: 'remove-archive', number }));
        ctx.status = 204;
      },
    },
  });
}
