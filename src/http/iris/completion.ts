import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { completeDeposit } from '../../deposits/change.ts';
import { writtenDeposit } from '../../deposits/client-write.ts';
import { parseContentDisposition } from '../../sword/headers/content-disposition.ts';
import { isArchiveType, isEntryType, TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import type { WriteParts } from '../handler-parts.ts';
import { digestsOf, isEmpty, namedUpload, parseDepositRequest } from '../requests/deposit-request.ts';
import { assertMd5 } from '../requests/receive-entry.ts';
import { isEmptyBody, waitsToContinue } from '../requests/request-body.ts';
import { assertDigests } from '../requests/verify-digests.ts';
import { answerReceipt } from '../responses/answer-receipt.ts';
import type { ServiceContext } from '../service-context.ts';
import { checkChange } from './change-deposit.ts';

const EMPTY_BODY = new Uint8Array();

/**
 * Resolves to whether the request is a POST without a body to the SE-IRI, which completes the deposit (SWORD 2.0,
 * 9.3). An empty file, archive, entry or form is content that was lost. To find out it may send `100 Continue`, and
 * refuses before what would be refused later.
 */
export async function isCompletion(
  parts: WriteParts,
  ctx: ServiceContext,
  deposit: DepositContentView,
): Promise<boolean> {
  const { inProgress } = parseDepositRequest(ctx);
  if (inProgress === true || announcesContent(ctx, inProgress)) return false;
  if (isEmpty(ctx)) return true;
  // A repeated completion is answered; repeated content is refused.
  const mustBeChangeable = ctx.req.headers['content-type'] !== undefined || deposit.status === 'partial';
  if (waitsToContinue(ctx) && mustBeChangeable) {
    const { body } = await checkChange(parts, ctx, deposit, 'addToEdit');
    if (body?.kind !== 'entry') return false;
  }
  return isEmptyBody(ctx);
}

/**
 * Returns whether the headers name an upload, a file, or the media type of a form or an archive. That of an entry means
 * content only without `In-Progress`: a widely used client sends both to complete a deposit.
 */
function announcesContent(ctx: ServiceContext, inProgress: boolean | null): boolean {
  const { headers } = ctx.req;
  if (namedUpload(ctx) !== undefined) return true;
  if (parseContentDisposition(headers['content-disposition']).filename !== null) return true;
  const [text = ''] = (headerText(headers['content-type']) ?? '').toLowerCase().split(';', 1);
  const type = text.trim();
  if (type.startsWith('multipart/') || isArchiveType(type, [ZIP_TYPE, TAR_TYPE])) return true;
  return inProgress === null && isEntryType({ type, parameters: new Map() });
}

/** Completes the deposit. Refuses an empty body when the headers promise digests of other bytes: it may be lost. */
export async function complete(
  parts: WriteParts,
  ctx: ServiceContext,
  deposit: DepositContentView,
): Promise<void> {
  const { deposits } = parts;
  const request = parseDepositRequest(ctx);
  assertMd5(EMPTY_BODY, request.md5);
  assertDigests(EMPTY_BODY, digestsOf(request));
  const write = await checkChange(parts, ctx, deposit, 'complete');
  // Without a key there is nothing to append for a deposit that is complete.
  const completed =
    deposit.status !== 'partial' && write.key === undefined
      ? deposit
      : await writtenDeposit(deposits, await completeDeposit(deposits, deposit.depositId, write));
  await answerReceipt(ctx, completed, parts);
}
