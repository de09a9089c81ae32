import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositService } from '../../deposits/deposit-service.ts';
import {
  type Accepted,
  bodyKind,
  digestsOf,
  isEmpty,
  namedUpload,
  parseDepositRequest,
} from '../requests/deposit-request.ts';
import { assertChangeable, assertMatches } from '../requests/preconditions.ts';
import { assertMd5 } from '../requests/receive-entry.ts';
import { isEmptyBody, waitsToContinue } from '../requests/request-body.ts';
import { assertDigests } from '../requests/verify-digests.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import type { ContentChange, DepositWrites, Written } from '../writes/deposit-writes.ts';
import { hasCheckedSwhid, updateMetadata } from '../writes/update-metadata.ts';
import { depositResource, isPossible } from './deposit-resource.ts';
import type { Handlers, Method } from './resource.ts';

/** Edit-IRI and SE-IRI: the receipt, the metadata, completion and deletion. */
export function editIri(writes: DepositWrites, depositService: DepositService): ServiceMiddleware {
  const handlers: Handlers<DepositContentView> = {
    GET: async (ctx, deposit) => writes.answerReceipt(ctx, deposit),
    POST: async (ctx, deposit) => {
      if (await isCompletion(ctx, deposit)) await completeWithoutBody(ctx, deposit);
      else {
        await writes.answerCreated(ctx, await changeContent(ctx, deposit, 'add-content'), 'edit');
      }
    },
    PUT: async (ctx, deposit) => {
      if (hasCheckedSwhid(ctx)) await updateMetadata(ctx, deposit, writes, depositService);
      else await changeContent(ctx, deposit, 'replace-content');
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      assertChangeable(ctx, deposit);
      await writes.remove(ctx, deposit);
      ctx.status = 204;
    },
  };
  return depositResource((id) => depositService.content(id), handlers, isPossibleHere);

  /**
   * Completes the deposit. Repeated for a deposit that is already completed, it answers the same and changes nothing.
   */
  async function completeWithoutBody(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    assertNoDigestPromised(ctx);
    const isDone = await writes.isReplay(ctx);
    if (deposit.status === 'partial' && !isDone) assertMatches(ctx, deposit);
    const needsCompletion = deposit.status === 'partial' || isDone;
    const shown = needsCompletion ? await writes.load(await writes.complete(ctx, deposit)) : deposit;
    await writes.answerReceipt(ctx, shown);
  }

  async function changeContent(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: ContentChange,
  ): Promise<Written> {
    // Without the header, the change is final here.
    const isFinal = (inProgress: boolean | null) => inProgress !== true;
    return writes.changeContent(ctx, deposit, kind, await acceptedHere(ctx, deposit, kind), isFinal);
  }

  async function acceptedHere(
    ctx: ServiceContext,
    { collection }: DepositContentView,
    kind: ContentChange,
  ): Promise<Accepted> {
    const accept = await writes.archiveTypes(ctx, collection);
    const inMultipart = { archives: accept, entry: true };
    // An archive may be added here without an entry (SWORD 2.0, 6.7.2): client libraries use this IRI, not the
    // EM-IRI.
    const archives = kind === 'add-content' ? accept : [];
    return { archives, entry: true, untypedEntry: true, inMultipart };
  }

  /**
   * Resolves to whether the request is a POST without a body to the SE-IRI, which completes the deposit (SWORD 2.0,
   * 9.3).
   */
  async function isCompletion(ctx: ServiceContext, deposit: DepositContentView): Promise<boolean> {
    if (namedUpload(ctx) !== undefined || parseDepositRequest(ctx).inProgress === true) return false;
    if (isEmpty(ctx)) return true;
    return (!waitsToContinue(ctx) || (await mayContinue(ctx, deposit))) && isEmptyBody(ctx);
  }

  /**
   * Resolves to whether `100 Continue` may be sent to find out if a body follows. Refuses first what would be refused
   * later.
   */
  async function mayContinue(ctx: ServiceContext, deposit: DepositContentView): Promise<boolean> {
    const isTyped = ctx.req.headers['content-type'] !== undefined;
    // A repeated completion is answered; repeated content is refused.
    const mustBeChangeable = isTyped || deposit.status === 'partial';
    if (mustBeChangeable && !(await writes.isReplay(ctx))) assertChangeable(ctx, deposit);
    return bodyKind(ctx, await acceptedHere(ctx, deposit, 'add-content')).kind === 'entry';
  }
}

/**
 * Refuses an empty body when the headers promise digests of other bytes: a lost body must not complete the deposit.
 * @throws {SwordError} 412
 */
function assertNoDigestPromised(ctx: ServiceContext): void {
  const request = parseDepositRequest(ctx);
  assertMd5(EMPTY_BODY, request.md5);
  assertDigests(EMPTY_BODY, digestsOf(request));
}

const EMPTY_BODY = new Uint8Array();

/**
 * Returns whether the method is possible: any on a partial deposit, and PUT of metadata on one that is done, if the
 * request names its SWHID.
 */
function isPossibleHere(deposit: DepositContentView, method: Method, ctx: ServiceContext): boolean {
  if (isPossible(deposit, method)) return true;
  const isUpdate = method === 'PUT' && deposit.status === 'done';
  return isUpdate && (ctx.method === 'OPTIONS' || hasCheckedSwhid(ctx));
}
