import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { changeContent, completeDeposit, removeDeposit, updateMetadata } from '../../deposits/change.ts';
import { type Written, writtenDeposit } from '../../deposits/client-write.ts';
import { assertMetadataUpdate } from '../../domain/deposit/metadata/decide-metadata.ts';
import { formatSwhid, InvalidSwhid, parseSwhid } from '../../swhid/swhid.ts';
import { headerText } from '../../sword/headers/raw-header.ts';
import { badRequest } from '../../sword/sword-error.ts';
import { digestsOf, isEmpty, namedUpload, parseDepositRequest } from '../requests/deposit-request.ts';
import { assertMd5 } from '../requests/receive-entry.ts';
import { isEmptyBody, waitsToContinue } from '../requests/request-body.ts';
import { assertDigests } from '../requests/verify-digests.ts';
import { WRITES } from '../requests/write-checks.ts';
import { answerCreated, type WriteParts, withTag } from '../responses/answer-documents.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositResource, isPossible } from './deposit-resource.ts';
import type { Handlers, Method } from './resource.ts';

/** Edit-IRI and SE-IRI: the receipt, the metadata, completion and deletion. */
export function editIri(parts: WriteParts): ServiceMiddleware {
  const { checks, deposits, documents } = parts;
  const handlers: Handlers<DepositContentView> = {
    GET: async (ctx, deposit) => documents.receipt(ctx, deposit),
    POST: async (ctx, deposit) => {
      if (await isCompletion(ctx, deposit)) await complete(ctx, deposit);
      else {
        const changed = withTag(ctx, await change(ctx, deposit, 'addToEdit'));
        await answerCreated(ctx, changed, 'edit', parts);
      }
    },
    PUT: async (ctx, deposit) => {
      const isUpdate = swhidText(ctx) !== undefined;
      withTag(ctx, await (isUpdate ? update(ctx, deposit) : change(ctx, deposit, 'replaceOnEdit')));
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      await removeDeposit(deposits, deposit.depositId, await checked(ctx, deposit, 'remove'));
      ctx.status = 204;
    },
  };
  return depositResource((id, client) => deposits.queries.ownContent(id, client), handlers, isPossibleHere);

  function checked(ctx: ServiceContext, deposit: DepositContentView, kind: keyof typeof WRITES) {
    return checks.run({ ctx, rule: WRITES[kind], collection: deposit.collection, deposit });
  }

  async function change(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: 'addToEdit' | 'replaceOnEdit',
  ): Promise<Written> {
    const { change: kindOfChange } = WRITES[kind];
    return changeContent(deposits, deposit.depositId, await checked(ctx, deposit, kind), (content) => ({
      kind: kindOfChange,
      ...content,
    }));
  }

  /** Adds metadata to a deposit that is done, without changing its status. `X-Check-SWHID` must identify it. */
  async function update(ctx: ServiceContext, deposit: DepositContentView): Promise<Written> {
    const swhid = checkedSwhid(ctx);
    const { collection, depositId } = deposit;
    const { providerUrl } = ctx.state.login;
    const asked = { ctx, rule: WRITES.updateMetadata, collection, deposit, swhid };
    const write = await checks.run(asked, () => async (facts) => assertMetadataUpdate(facts, providerUrl));
    return updateMetadata(deposits, depositId, write, swhid);
  }

  /** Completes the deposit. Refuses an empty body when the headers promise digests of other bytes: it may be lost. */
  async function complete(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    const request = parseDepositRequest(ctx);
    assertMd5(EMPTY_BODY, request.md5);
    assertDigests(EMPTY_BODY, digestsOf(request));
    const write = await checked(ctx, deposit, 'complete');
    const isAnswered = deposit.status !== 'partial' && !write.isRepeated;
    const completed = isAnswered
      ? deposit
      : await writtenDeposit(deposits, await completeDeposit(deposits, deposit.depositId, write));
    await documents.receipt(ctx, completed);
  }

  /**
   * Resolves to whether the request is a POST without a body to the SE-IRI, which completes the deposit (SWORD 2.0,
   * 9.3). To find out it may send `100 Continue`, and refuses before what would be refused later.
   */
  async function isCompletion(ctx: ServiceContext, deposit: DepositContentView): Promise<boolean> {
    if (namedUpload(ctx) !== undefined || parseDepositRequest(ctx).inProgress === true) return false;
    if (isEmpty(ctx)) return true;
    // A repeated completion is answered; repeated content is refused.
    const mustBeChangeable = ctx.req.headers['content-type'] !== undefined || deposit.status === 'partial';
    if (waitsToContinue(ctx) && mustBeChangeable) {
      const { body } = await checked(ctx, deposit, 'addToEdit');
      if (body?.kind !== 'entry') return false;
    }
    return isEmptyBody(ctx);
  }
}

const EMPTY_BODY = new Uint8Array();

/**
 * Returns whether the method is possible: any on a partial deposit, and PUT of metadata on one that is done, if the
 * request names its SWHID.
 */
function isPossibleHere(deposit: DepositContentView, method: Method, ctx: ServiceContext): boolean {
  if (isPossible(deposit, method)) return true;
  const isUpdate = method === 'PUT' && deposit.status === 'done';
  return isUpdate && (ctx.method === 'OPTIONS' || swhidText(ctx) !== undefined);
}

/** Returns the header's text; a widely used client spells it with underscores. */
function swhidText({ req: { headers } }: ServiceContext): string | undefined {
  return headerText(headers['x-check-swhid'] ?? headers['x_check_swhid']);
}

function checkedSwhid(ctx: ServiceContext): string {
  try {
    return formatSwhid(parseSwhid(swhidText(ctx) ?? ''));
  } catch (error) {
    if (error instanceof InvalidSwhid) throw badRequest(`X-Check-SWHID: ${error.message}`);
    throw error;
  }
}
