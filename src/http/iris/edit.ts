import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { completeDeposit, removeDeposit, updateMetadata } from '../../deposits/change.ts';
import { type Written, writtenDeposit } from '../../deposits/client-write.ts';
import { formatSwhid, InvalidSwhid, parseSwhid } from '../../swhid/swhid.ts';
import { parseContentDisposition } from '../../sword/headers/content-disposition.ts';
import { isArchiveType, isEntryType, TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { badRequest, quoted } from '../../sword/sword-error.ts';
import { digestsOf, isEmpty, namedUpload, parseDepositRequest } from '../requests/deposit-request.ts';
import { assertMd5 } from '../requests/receive-entry.ts';
import { isEmptyBody, waitsToContinue } from '../requests/request-body.ts';
import { assertDigests } from '../requests/verify-digests.ts';
import { WRITES } from '../requests/writes-by-iri.ts';
import { answerCreated, answerReceipt, type WriteParts, withTag } from '../responses/answer-receipt.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositResource, isPossible } from './deposit-resource.ts';
import type { Method } from './resource.ts';
import { adding, checkAndChange, checkChange, replacing } from './write-deposit.ts';

/** Edit-IRI and SE-IRI: the receipt, the metadata, completion and deletion. */
export function editHandler(parts: WriteParts): ServiceMiddleware {
  const { deposits } = parts;
  return depositResource(
    deposits.queries.ownContent,
    {
      GET: async (ctx, deposit) => answerReceipt(ctx, deposit, parts),
      POST: async (ctx, deposit) => {
        if (await isCompletion(parts, ctx, deposit)) await complete(parts, ctx, deposit);
        else await add(parts, ctx, deposit);
      },
      PUT: async (ctx, deposit) => {
        if (swhidText(ctx) === undefined)
          await checkAndChange(parts, ctx, deposit, 'replaceOnEdit', replacing);
        else withTag(ctx, await update(parts, ctx, deposit));
        ctx.status = 204;
      },
      DELETE: async (ctx, deposit) => {
        const write = await checkChange(parts, ctx, deposit, 'remove');
        await removeDeposit(deposits, deposit.depositId, write);
        ctx.status = 204;
      },
    },
    isPossibleHere,
  );
}

/**
 * Returns whether the method is possible: any on a partial deposit, and PUT of metadata on one that is done, if the
 * request names its SWHID.
 */
function isPossibleHere(deposit: DepositContentView, method: Method, ctx: ServiceContext): boolean {
  if (isPossible(deposit, method)) return true;
  const isUpdate = method === 'PUT' && deposit.status === 'done';
  return isUpdate && (ctx.method === 'OPTIONS' || swhidText(ctx) !== undefined);
}

/**
 * Resolves to whether the request is a POST without a body to the SE-IRI, which completes the deposit (SWORD 2.0,
 * 9.3). An empty file, archive, entry or form is content that was lost. To find out it may send `100 Continue`, and refuses before what
 * would be refused later.
 */
async function isCompletion(
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
async function complete(parts: WriteParts, ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
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

const EMPTY_BODY = new Uint8Array();

async function add(parts: WriteParts, ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
  const added = await checkAndChange(parts, ctx, deposit, 'addToEdit', adding);
  await answerCreated(ctx, added, 'edit', parts);
}

/** Adds metadata to a deposit that is done, without changing its status. `X-Check-SWHID` must identify it. */
async function update(
  { checkWrite, deposits }: WriteParts,
  ctx: ServiceContext,
  deposit: DepositContentView,
): Promise<Written> {
  const swhid = checkedSwhid(ctx);
  const { collection, depositId } = deposit;
  const write = await checkWrite({ ctx, rule: WRITES.updateMetadata, collection, deposit, swhid });
  return updateMetadata(deposits, depositId, write, swhid);
}

function checkedSwhid(ctx: ServiceContext): string {
  try {
    return formatSwhid(parseSwhid(swhidText(ctx) ?? ''));
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`X-Check-SWHID: ${error.message}`);
    throw error;
  }
}

/**
 * Returns the header's text; a widely used client spells it with underscores.
 * @throws {SwordError} 400: the two spellings differ.
 */
function swhidText({ req: { headers } }: ServiceContext): string | undefined {
  const [usual, underscored] = [headers['x-check-swhid'], headers['x_check_swhid']].map(headerText);
  if (usual !== undefined && underscored !== undefined && usual !== underscored)
    throw badRequest(`X-Check-SWHID was sent twice, with ${quoted(usual)} and ${quoted(underscored)}.`);
  return usual ?? underscored;
}
