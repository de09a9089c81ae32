import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { Resolver } from '../../contents/resolver.ts';
import type { ClientWrite, DepositParts, ReceivedContent } from '../../deposits/client-write.ts';
import type { IdempotencyKey } from '../../deposits/idempotency/idempotency-store.ts';
import { normalizePath } from '../../deposits/idempotency/request-fingerprint.ts';
import { validateEntry } from '../../deposits/validate-entry.ts';
import { assertArchives, assertChangeLimit } from '../../domain/deposit/limits.ts';
import { assertIdentifiedBy } from '../../domain/deposit/metadata/decide-metadata.ts';
import { identifiersOf } from '../../swhid/deposit-identifiers.ts';
import { assertMatches, assertNoneMatches, entityTag } from '../../sword/headers/entity-tag.ts';
import { parseIdempotencyKey } from '../../sword/headers/idempotency-key.ts';
import { TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { refuseBidiControls } from '../../sword/headers/slug.ts';
import { notAllowed, notFound } from '../../sword/sword-error.ts';
import type { View } from '../../views/view.ts';
import type { ServiceContext } from '../service-context.ts';
import { confirmLogin } from './confirm-login.ts';
import { type Accepted, type BodyKind, bodyKind, parseDepositRequest } from './deposit-request.ts';
import { collectionNamed } from './path-names.ts';
import { assertDeclaredLength, receiveBody } from './receive-body.ts';
import type { ReceivingParts } from './receiving.ts';
import type { WriteRule } from './writes-by-iri.ts';

export type UncheckedWrite = {
  readonly ctx: ServiceContext;
  readonly rule: WriteRule;
  readonly collection: string;
  /** The deposit to be changed; `undefined` for a new one. */
  readonly deposit?: DepositContentView | undefined;
  /** The SWHID in `X-Check-SWHID`, which must identify the deposit. */
  readonly swhid?: string;
};

type Repetition = { readonly key: IdempotencyKey | undefined } & Pick<ClientWrite, 'isRepeated'>;

/** A write that has passed its checks, as use cases accept it. */
export type CheckedWrite = Omit<ClientWrite, 'receive'> & {
  /** `undefined` if the write has no body. */
  readonly body: BodyKind | undefined;
  readonly receive: (instead?: Partial<ReceivingParts>) => Promise<ReceivedContent>;
};

type WriteCheckParts = {
  readonly deposits: DepositParts;
  readonly collections: View<CollectionView>;
  readonly resolver: Resolver;
  readonly receivingParts: ReceivingParts;
};

/** Checks a write before its body is received. */
export type CheckWrite = (asked: UncheckedWrite) => Promise<CheckedWrite>;

export function writeChecker(parts: WriteCheckParts): CheckWrite {
  const { deposits, resolver } = parts;
  return async (asked) => {
    const { ctx, rule, collection } = asked;
    const { login } = ctx.state;
    const checked = await checkHeaders(asked, parts);
    const { request, isFinal, key, isRepeated, accepted, body, parts: receivingParts, ownOrigin } = checked;
    const { inProgress = null, slug = null } = request ?? {};
    // A parallel request with the same key may have been executed since the checks.
    const executed = async () => {
      const repetition = key && (await loadKey(ctx, key.text, deposits));
      return repetition?.isRepeated ? repetition.key?.earlier : undefined;
    };
    return {
      ...atMatchedRevision(asked),
      requestId: ctx.state.requestId,
      login,
      method: ctx.method,
      iriPath: normalizePath(ctx.path),
      inProgress,
      isFinal,
      slug,
      key,
      isRepeated,
      body,
      confirm: () => confirmLogin(ctx, collection, deposits),
      receive: async (instead) => {
        if (!request || !accepted || !body) return { archive: null, entry: null };
        const { entryOf } = rule;
        return receiveBody({
          ctx,
          request,
          body,
          accepted,
          executed,
          // What a client may do can have changed since a request that is repeated was executed.
          validateEntry: async (facts) =>
            isRepeated
              ? undefined
              : validateEntry(facts, {
                  entryOf,
                  login,
                  resolver,
                  body,
                  inProgress,
                  isFinal,
                  slug,
                  ownOrigin,
                }),
          parts: { ...receivingParts, ...instead },
        });
      },
    };
  };
}

/** Checks in the order in which the faults of a write are answered, after 401, 404 and mediation. The first is answered. */
async function checkHeaders(
  asked: UncheckedWrite,
  { deposits, collections, receivingParts }: WriteCheckParts,
) {
  const { ctx, rule } = asked;
  const request = ctx.method === 'DELETE' ? undefined : parseDepositRequest(ctx); // the headers of DELETE are ignored
  const inProgress = request?.inProgress ?? null;
  const isFinal = inProgress === null ? rule.isFinalWithoutHeader : !inProgress;
  const { key, isRepeated } = await findRepetition(ctx, deposits);
  if (!isRepeated) {
    refuseBidiControls(request?.slug ?? null);
    assertStatus(asked);
    evaluatePreconditions(asked);
  }
  const ownOrigin = await assertSwhid(asked, deposits.queries);
  const accepted = acceptedBy(asked, isRepeated, collections);
  const body = accepted && bodyKind(ctx, accepted);
  if (!isRepeated) assertLimits(asked, body, isFinal, deposits.maxArchives);
  const parts = isRepeated ? await withEarlierLimits(receivingParts, key, deposits) : receivingParts;
  if (request && body) assertDeclaredLength(request.declaredLength, body, parts);
  return { request, isFinal, key, isRepeated, accepted, body, parts, ownOrigin };
}

/** Raises the limits of sizes to what a request that is repeated has deposited: they may have been higher then. */
async function withEarlierLimits(
  parts: ReceivingParts,
  key: Repetition['key'],
  { queries }: DepositParts,
): Promise<ReceivingParts> {
  const earlier = key?.earlier && (await queries.contentOf(key.earlier));
  return {
    ...parts,
    maxUploadSize: Math.max(parts.maxUploadSize, earlier?.archive?.length ?? 0),
    maxEntrySize: Math.max(parts.maxEntrySize, earlier?.entry?.length ?? 0),
  };
}

async function findRepetition(ctx: ServiceContext, deposits: DepositParts): Promise<Repetition> {
  const text = ctx.method === 'DELETE' ? null : parseIdempotencyKey(ctx.req.headers['idempotency-key']);
  return text === null ? { key: undefined, isRepeated: false } : loadKey(ctx, text, deposits);
}

async function loadKey(
  { state: { login } }: ServiceContext,
  text: string,
  { keys, queries }: DepositParts,
): Promise<Repetition> {
  const key = await keys.load(login.client, text);
  return { key, isRepeated: key.earlier !== undefined && (await queries.wasExecuted(key.earlier)) };
}

function assertStatus({ ctx, rule, deposit, swhid }: UncheckedWrite): void {
  if (!deposit || rule.status === 'any' || deposit.status === rule.status) return;
  const { depositId, status } = deposit;
  if (swhid !== undefined && status === 'partial') assertIdentifiedBy(swhid, depositId, null);
  const text =
    rule.status === 'partial'
      ? `Deposit ${depositId} is ${status}: it can be changed only while it is partial.`
      : `Deposit ${depositId} is ${status}: metadata can be added by its identifier only once it is done.`;
  throw notAllowed(ctx.method, ctx.state.allow(), text);
}

function evaluatePreconditions({ ctx, rule, deposit }: UncheckedWrite): void {
  const isSettled = rule.status === 'any' && deposit?.status !== 'partial';
  if (!deposit || isSettled) return;
  const tag = entityTag(deposit.depositId, deposit.revision);
  assertMatches(ctx.req.headers['if-match'], tag);
  assertNoneMatches(ctx.req.headers['if-none-match'], tag);
}

/** Resolves to the origin of the deposit that the request identifies; `null` without `X-Check-SWHID` or software. */
async function assertSwhid(
  { deposit, swhid }: UncheckedWrite,
  queries: DepositParts['queries'],
): Promise<string | null> {
  if (!deposit || swhid === undefined) return null;
  const current = await queries.status(deposit.depositId, deposit.revision);
  if (!current) throw notFound(`Deposit ${deposit.depositId} has been deleted.`);
  assertIdentifiedBy(swhid, deposit.depositId, identifiersOf(current)?.refId ?? null);
  return current.origin;
}

/** Returns the bodies that the write may have; `undefined` if it has none. */
function acceptedBy(
  { rule, collection }: UncheckedWrite,
  isRepeated: boolean,
  collections: View<CollectionView>,
): Accepted | undefined {
  // The collection may have changed since a request that is repeated was executed.
  return rule.accepted?.(isRepeated ? [ZIP_TYPE, TAR_TYPE] : collectionNamed(collections, collection).accept);
}

function assertLimits(
  { rule, deposit }: UncheckedWrite,
  body: BodyKind | undefined,
  isFinal: boolean,
  maxArchives: number,
): void {
  if (!deposit || !rule.change) return;
  if (rule.change === 'add-content' && body?.kind === 'archive')
    assertArchives(deposit.archives.length + 1, maxArchives);
  if (!isFinal) assertChangeLimit(deposit.depositId, deposit.revision + 1);
}

/** Returns the revision that `If-Match` matched, which the write must expect: another write in between causes 412. */
function atMatchedRevision({ ctx, deposit }: UncheckedWrite): { readonly atRevision?: number } {
  const wanted = ctx.req.headers['if-match']?.trim() ?? '*';
  return wanted === '*' || !deposit ? {} : { atRevision: deposit.revision };
}
