import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import type { ClientWrite, DepositParts, ReceivedContent } from '../../deposits/client-write.ts';
import type { IdempotencyKey } from '../../deposits/idempotency/idempotency-store.ts';
import { normalizePath } from '../../deposits/idempotency/request-fingerprint.ts';
import {
  type EntryValidator,
  type LoadedDepositsLookup,
  softwareEntryValidator,
} from '../../deposits/validate-entry.ts';
import { assertArchives, assertChangeLimit } from '../../domain/deposit/limits.ts';
import { assertIdentifiedBy } from '../../domain/deposit/metadata/decide-metadata.ts';
import { identifiersOf } from '../../swhid/deposit-identifiers.ts';
import { assertMatches, assertNoneMatches, entityTag } from '../../sword/headers/entity-tag.ts';
import { parseIdempotencyKey } from '../../sword/headers/idempotency-key.ts';
import { TAR_TYPE, ZIP_TYPE } from '../../sword/headers/media-type.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { View } from '../../views/view.ts';
import { collectionNamed } from '../iris/deposit-resource.ts';
import { notAllowed } from '../iris/resource.ts';
import type { ServiceContext } from '../service-context.ts';
import { confirmLogin } from './confirm-login.ts';
import {
  type Accepted,
  type BodyKind,
  bodyKind,
  type DepositRequest,
  parseDepositRequest,
} from './deposit-request.ts';
import { assertDeclaredLength, receiveContent } from './receive-content.ts';
import type { ReceiveOptions } from './receive-options.ts';
import type { WriteRule } from './write-rules.ts';

/** A write whose checks have not begun. */
export type AskedWrite = {
  readonly ctx: ServiceContext;
  readonly rule: WriteRule;
  readonly collection: string;
  /** The deposit to be changed; `undefined` for a new one. */
  readonly deposit?: DepositContentView | undefined;
  /** The SWHID in `X-Check-SWHID`, which must identify the deposit. */
  readonly swhid?: string;
};

/** Facts about a write that its checks establish. */
type Findings = {
  /** The parsed headers; those of DELETE are ignored. */
  readonly request?: DepositRequest;
  readonly isFinal: boolean;
  readonly key?: IdempotencyKey;
  /** Whether this very request, by its key, has been executed before: its answer is repeated. */
  readonly isRepeated: boolean;
  readonly accepted: Accepted;
  readonly body?: BodyKind;
};

const NO_BODY: Accepted = { archives: [], entry: false };

/** A write, and what the checks so far have found out about it. */
type CheckedWrite = AskedWrite & Findings;

/** A write that has passed the checks, as use cases accept it. */
export type PassedWrite = Omit<ClientWrite, 'receive'> &
  Pick<Findings, 'isRepeated'> & {
    readonly body: BodyKind | undefined;
    readonly receive: (instead?: Partial<ReceiveOptions>) => Promise<ReceivedContent>;
  };

export type WriteCheckParts = {
  readonly deposits: DepositParts;
  readonly collections: View<CollectionView>;
  readonly lookup: LoadedDepositsLookup;
  readonly receive: ReceiveOptions;
};

/** Refuses a write, or returns what it has found out. */
type Check = (
  write: CheckedWrite,
  parts: WriteCheckParts,
) => Partial<Findings> | void | Promise<Partial<Findings> | void>;

/** The order in which the faults of a write are answered, after 401, 404 and mediation. The first is answered. */
const CHECKS: readonly { readonly name: string; readonly check: Check }[] = [
  { name: 'header syntax', check: parseHeaders },
  { name: 'idempotency key', check: findRepetition },
  { name: 'status of the deposit', check: assertStatus },
  { name: 'If-Match and If-None-Match', check: evaluatePreconditions },
  { name: 'X-Check-SWHID', check: assertSwhid },
  { name: 'media type and packaging', check: classifyBody },
  { name: 'limits of the deposit', check: assertLimits },
  { name: 'declared length', check: assertLength },
];

/** Runs the checks that a write must pass before its body is received. */
export class WriteChecks {
  readonly #parts: WriteCheckParts;

  constructor(parts: WriteCheckParts) {
    this.#parts = parts;
  }

  /** @param validatorOf makes the validator of the entry, if the body has one. */
  async run(
    asked: AskedWrite,
    validatorOf: (write: Pick<PassedWrite, 'body' | 'inProgress' | 'slug'>) => EntryValidator = () =>
      softwareEntryValidator(asked.ctx.state.login, this.#parts.lookup),
  ): Promise<PassedWrite> {
    let write: CheckedWrite = { ...asked, isFinal: false, isRepeated: false, accepted: NO_BODY };
    for (const { check } of CHECKS) write = { ...write, ...(await check(write, this.#parts)) };
    const { ctx, request, body, accepted, key } = write;
    const { deposits } = this.#parts;
    // A parallel request with the same key may have been executed since the checks.
    const isRepetition = async () => key !== undefined && (await loadKey(ctx, key.key, deposits)).isRepeated;
    const { inProgress = null, slug = null } = request ?? {};
    return {
      ...write,
      ...atMatchedRevision(write),
      requestId: ctx.state.requestId,
      login: ctx.state.login,
      iriPath: normalizePath(ctx.path),
      body,
      inProgress,
      slug,
      confirm: () => confirmLogin(ctx, asked.collection, deposits),
      receive: async (instead) => {
        if (!request || !body) return { archive: null, entry: null };
        const validator = validatorOf({ body, inProgress, slug });
        const options = { ...this.#parts.receive, ...instead };
        return receiveContent({ ctx, request, body, accepted, isRepetition }, validator, options);
      },
    };
  }
}

function parseHeaders({ ctx, rule }: CheckedWrite): Partial<Findings> {
  if (ctx.method === 'DELETE') return {};
  const request = parseDepositRequest(ctx);
  return { request, isFinal: request.inProgress === null ? rule.isFinalWithoutHeader : !request.inProgress };
}

async function findRepetition(
  { ctx }: CheckedWrite,
  { deposits }: WriteCheckParts,
): Promise<Partial<Findings>> {
  const text = ctx.method === 'POST' ? parseIdempotencyKey(ctx.req.headers['idempotency-key']) : null;
  return text === null ? {} : loadKey(ctx, text, deposits);
}

async function loadKey(
  { state: { login } }: ServiceContext,
  text: string,
  { keys, queries }: WriteCheckParts['deposits'],
): Promise<Required<Pick<Findings, 'key' | 'isRepeated'>>> {
  const key = await keys.load(login.client, text);
  return { key, isRepeated: key.earlier !== undefined && (await queries.wasExecuted(key.earlier)) };
}

function assertStatus({ ctx, rule, deposit, swhid, isRepeated }: CheckedWrite): void {
  if (!deposit || isRepeated || rule.status === 'any' || deposit.status === rule.status) return;
  const { depositId, status } = deposit;
  if (swhid !== undefined && status === 'partial') assertIdentifiedBy(swhid, depositId, null);
  const text =
    rule.status === 'partial'
      ? `Deposit ${depositId} is ${status}: it can be changed only while it is partial.`
      : `Deposit ${depositId} is ${status}: metadata can be added by its identifier only once it is done.`;
  throw notAllowed(ctx.method, ctx.state.allow(), text);
}

function evaluatePreconditions({ ctx, rule, deposit, isRepeated }: CheckedWrite): void {
  const isSettled = rule.status === 'any' && deposit?.status !== 'partial';
  if (!deposit || isRepeated || isSettled) return;
  const tag = entityTag(deposit.depositId, deposit.revision);
  assertMatches(ctx.req.headers['if-match'], tag);
  assertNoneMatches(ctx.req.headers['if-none-match'], tag);
}

async function assertSwhid(
  { deposit, swhid }: CheckedWrite,
  { deposits: { queries } }: WriteCheckParts,
): Promise<void> {
  if (!deposit || swhid === undefined) return;
  const current = await queries.status(deposit.depositId, deposit.revision);
  if (!current) throw notFound(`Deposit ${deposit.depositId} has been deleted.`);
  assertIdentifiedBy(swhid, deposit.depositId, identifiersOf(current)?.refId ?? null);
}

function classifyBody(
  { ctx, rule, collection, isRepeated }: CheckedWrite,
  { collections }: WriteCheckParts,
): Partial<Findings> {
  if (!rule.accepted) return {};
  // The collection may have changed since a request that is repeated was executed.
  const archives = isRepeated ? [ZIP_TYPE, TAR_TYPE] : collectionNamed(collections, collection).accept;
  const accepted = rule.accepted(archives);
  return { accepted, body: bodyKind(ctx, accepted) };
}

function assertLimits(write: CheckedWrite, { deposits: { maxArchives } }: WriteCheckParts): void {
  const { rule, deposit, body, isFinal, isRepeated } = write;
  if (!deposit || !rule.change || isRepeated) return;
  if (rule.change === 'add-content' && body?.kind === 'archive')
    assertArchives(deposit.archives.length + 1, maxArchives);
  if (!isFinal) assertChangeLimit(deposit.depositId, deposit.revision + 1);
}

function assertLength({ request, body }: CheckedWrite, { receive }: WriteCheckParts): void {
  if (request && body) assertDeclaredLength(request.declaredLength, body, receive);
}

/** Returns the revision that `If-Match` matched, which the write must expect: another write in between causes 412. */
function atMatchedRevision({ ctx, deposit }: CheckedWrite): { readonly atRevision?: number } {
  const wanted = ctx.req.headers['if-match']?.trim() ?? '*';
  return wanted === '*' || !deposit ? {} : { atRevision: deposit.revision };
}
