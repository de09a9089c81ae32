import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { changeContent } from '../../deposits/change.ts';
import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import { badRequest, notFound } from '../../sword/sword-error.ts';
import { WRITES } from '../requests/write-checks.ts';
import { answerArchive, type Downloads } from '../responses/answer-archives.ts';
import { type WriteParts, withTag } from '../responses/answer-documents.ts';
import type { ServiceMiddleware } from '../service-context.ts';
import { findDeposit, isPossible, paramsOf } from './deposit-resource.ts';
import { resource } from './resource.ts';

type File = { readonly deposit: DepositContentView; readonly archive: NumberedArchive };

/** File-IRI: one archive of a deposit. */
export function fileIri({ checks, deposits }: WriteParts, downloads: Downloads): ServiceMiddleware {
  return resource<File>({
    find: async (ctx) => {
      const deposit = await findDeposit(ctx, (id, client) => deposits.queries.ownContent(id, client));
      const { file } = paramsOf(ctx);
      const archive = deposit.archives.find(({ number }) => String(number) === file);
      if (archive) return { deposit, archive };
      throw notFound(`Deposit ${deposit.depositId} has no archive number ${file}.`);
    },
    possible: ({ deposit }, method) => isPossible(deposit, method),
    handlers: {
      GET: async (ctx, { deposit, archive }) => answerArchive(ctx, deposit, archive, downloads),
      PUT: async (ctx, { deposit, archive: { number } }) => {
        const { collection, depositId } = deposit;
        const write = await checks.run({ ctx, rule: WRITES.replaceFile, collection, deposit });
        const changed = await changeContent(deposits, depositId, write, ({ archive }) => {
          if (!archive) throw badRequest('The request contains no archive.');
          return { kind: 'replace-archive', number, archive };
        });
        withTag(ctx, changed);
        ctx.status = 204;
      },
      DELETE: async (ctx, { deposit, archive: { number } }) => {
        const { collection, depositId } = deposit;
        const write = await checks.run({ ctx, rule: WRITES.remove, collection, deposit });
        const removal = { kind: 'remove-archive', number } as const;
        withTag(ctx, await changeContent(deposits, depositId, write, () => removal));
        ctx.status = 204;
      },
    },
  });
}
