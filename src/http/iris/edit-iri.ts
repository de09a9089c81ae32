import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { DepositDesk } from '../deposit-desk.ts';
import { depositResource, isPossible } from '../deposit-resource.ts';
import { assertChangeable, assertMatches } from '../receiving/assert-changeable.ts';
import {
  type Accepted,
  bodyKind,
  digestsOf,
  isEmpty,
  namedUpload,
  parseDepositRequest,
} from '../receiving/deposit-request.ts';
import { assertDigests } from '../receiving/promised-bytes.ts';
import { assertMd5 } from '../receiving/receive-entry.ts';
import { holdsBodyBack, turnsOutEmpty } from '../receiving/request-body.ts';
import { hasCheckedSwhid, updateMetadata } from '../receiving/update-metadata.ts';
import type { ContentChange, DepositWrites, Written } from '../receiving/write-deposits.ts';
import type { Handlers, Method } from '../resource.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';

/** Edit-IRI and SE-IRI: the receipt, the metadata, completion and deletion. */
export function editIri(writes: DepositWrites, desk: DepositDesk): ServiceMiddleware {
  const handlers: Handlers<DepositContentView> = {
    GET: async (ctx, deposit) => writes.answerReceipt(ctx, deposit),
    POST: async (ctx, deposit) => {
      if (await isCompletion(ctx, deposit)) await completeWithoutBody(ctx, deposit);
      else {
        await writes.answerCreated(ctx, await changeContent(ctx, deposit, 'add-content'), 'edit');
      }
    },
    PUT: async (ctx, deposit) => {
      if (hasCheckedSwhid(ctx)) await updateMetadata(ctx, deposit, writes, desk);
      else await changeContent(ctx, deposit, 'replace-content');
      ctx.status = 204;
    },
    DELETE: async (ctx, deposit) => {
      assertChangeable(ctx, deposit);
      await writes.remove(ctx, deposit);
      ctx.status = 204;
    },
  };
  return depositResource((id) => desk.content(id), handlers, isPossibleHere);

  /** Asked again of a deposit that is completed already, it answers the same and changes nothing. */
  async function completeWithoutBody(ctx: ServiceContext, deposit: DepositContentView): Promise<void> {
    assertNothingPromised(ctx);
    const isDone = await writes.isDone(ctx);
    if (deposit.status === 'partial' && !isDone) assertMatches(ctx, deposit);
    const isToDo = deposit.status === 'partial' || isDone;
    const shown = isToDo ? await writes.shown(await writes.complete(ctx, deposit)) : deposit;
    await writes.answerReceipt(ctx, shown);
  }

  async function changeContent(
    ctx: ServiceContext,
    deposit: DepositContentView,
    kind: ContentChange,
  ): Promise<Written> {
    // Absent means final here.
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
    // What is added may be an archive alone (SWORD 2.0, 6.7.2): client libraries add them here, not at the EM-IRI.
    const archives = kind === 'add-content' ? accept : [];
    return { archives, entry: true, untypedEntry: true, inMultipart };
  }

  /** A POST without a body to the SE-IRI says that nothing more will come (SWORD 2.0, 9.3). */
  async function isCompletion(ctx: ServiceContext, deposit: DepositContentView): Promise<boolean> {
    if (namedUpload(ctx) !== undefined || parseDepositRequest(ctx).inProgress === true) return false;
    if (isEmpty(ctx)) return true;
    return (!holdsBodyBack(ctx) || (await mayGoOn(ctx, deposit))) && turnsOutEmpty(ctx);
  }

  /** Whether to say `100 Continue` only to see if a body comes. What would be refused is refused before. */
  async function mayGoOn(ctx: ServiceContext, deposit: DepositContentView): Promise<boolean> {
    const isTyped = ctx.req.headers['content-type'] !== undefined;
    // A completion is answered also when it comes again; content is not.
    const isJudged = isTyped || deposit.status === 'partial';
    if (isJudged && !(await writes.isDone(ctx))) assertChangeable(ctx, deposit);
    return bodyKind(ctx, await acceptedHere(ctx, deposit, 'add-content')).kind === 'entry';
  }
}

/** A body that was lost on its way must not complete what it was to complete. @throws {SwordError} 412 */
function assertNothingPromised(ctx: ServiceContext): void {
  const request = parseDepositRequest(ctx);
  assertMd5(NOTHING, request.md5);
  assertDigests(NOTHING, digestsOf(request));
}

const NOTHING = new Uint8Array();

/** Beside what is possible with a partial deposit: more metadata for one that is done, if the request says which. */
function isPossibleHere(deposit: DepositContentView, method: Method, ctx: ServiceContext): boolean {
  if (isPossible(deposit, method)) return true;
  const isUpdate = method === 'PUT' && deposit.status === 'done';
  return isUpdate && (ctx.method === 'OPTIONS' || hasCheckedSwhid(ctx));
}
