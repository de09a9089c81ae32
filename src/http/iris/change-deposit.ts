import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { changeContent } from '../../deposits/change.ts';
import type { ReceivedContent, Written } from '../../deposits/client-write.ts';
import type { Change } from '../../domain/deposit/commands.ts';
import type { WriteParts } from '../handler-parts.ts';
import type { CheckedWrite } from '../requests/write-checks.ts';
import { WRITES } from '../requests/writes-by-iri.ts';
import { withTag } from '../responses/answer-receipt.ts';
import type { ServiceContext } from '../service-context.ts';

type ChangeOf = (content: Pick<ReceivedContent, 'archive' | 'entry'>) => Change;

export const adding: ChangeOf = (content) => ({ kind: 'add-content', ...content });
export const replacing: ChangeOf = (content) => ({ kind: 'replace-content', ...content });

export function checkChange(
  { checkWrite }: Pick<WriteParts, 'checkWrite'>,
  ctx: ServiceContext,
  deposit: DepositContentView,
  write: keyof typeof WRITES,
): Promise<CheckedWrite> {
  return checkWrite({ ctx, rule: WRITES[write], collection: deposit.collection, deposit });
}

/** Runs the checks of a write, changes the content of the deposit as `changeOf` says, and sets its new entity tag. */
export async function checkAndChange(
  parts: Pick<WriteParts, 'checkWrite' | 'deposits'>,
  ctx: ServiceContext,
  deposit: DepositContentView,
  write: keyof typeof WRITES,
  changeOf: ChangeOf,
): Promise<Written> {
  const passed = await checkChange(parts, ctx, deposit, write);
  return withTag(ctx, await changeContent(parts.deposits, deposit.depositId, passed, changeOf));
}
