import type { ClientLogin } from '../../projections/client-logins.ts';
import type { DepositContentView } from '../../projections/deposit-content.ts';
import type { Archive, MetadataEntry, MetadataTarget } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog, Position } from '../event-log/event-log.ts';
import type { OutageRetries, RetryLimits } from '../event-log/outage-retries.ts';
import { notFound } from '../sword/sword-error.ts';
import type { Projector } from '../views/projector.ts';
import type { CommandContext } from './command-handler.ts';
import { DepositIdAllocator } from './deposit-ids.ts';
import {
  type IdempotencyKey,
  type IdempotencyRecord,
  IdempotencyStore,
} from './idempotency/idempotency-store.ts';
import type { KeptStates } from './kept-states.ts';
import { DepositQueries } from './queries.ts';

/** Time limit for this node's views to contain a write; after that, they are folded from the stream. */
export const VIEW_TIMEOUT_MS = 2000;

/** The parts of a node that write deposits. */
export type DepositParts = {
  readonly log: EventLog;
  readonly ids: Pick<DepositIdAllocator, 'next'>;
  readonly keys: IdempotencyStore;
  readonly projector: Pick<Projector, 'isCurrent' | 'passed'>;
  readonly queries: DepositQueries;
  readonly maxArchives: number;
  /** For the reactors of the same process. */
  readonly kept?: KeptStates<Deposit> | undefined;
};

type DepositsOptions = Pick<DepositParts, 'log' | 'maxArchives' | 'kept'> & {
  readonly projector: Projector;
  /** Whether other nodes write to the log as well. */
  readonly isShared: boolean;
  readonly limits?: RetryLimits;
};

export function openDeposits({ isShared, limits, ...parts }: DepositsOptions): DepositParts {
  const { log, projector } = parts;
  return {
    ...parts,
    ids: new DepositIdAllocator(log, limits),
    keys: new IdempotencyStore(log),
    queries: new DepositQueries(log, projector, isShared, limits),
  };
}

/** A write of a client whose headers are checked; its body has not been received. */
export type ClientWrite = {
  readonly requestId: string;
  readonly login: Pick<ClientLogin, 'client' | 'providerUrl' | 'domain'>;
  /** HTTP method, and path of the IRI, normalized: part of what an idempotency key stands for. */
  readonly method: string;
  readonly iriPath: string;
  readonly inProgress: boolean | null;
  /** Whether the deposit gets no more after this request. */
  readonly isFinal: boolean;
  readonly slug: string | null;
  readonly key?: IdempotencyKey | undefined;
  /** Whether this very request, by its key, has been executed before: its answer is repeated. */
  readonly isRepeated: boolean;
  /** The revision that `If-Match` names. */
  readonly atRevision?: number;
  /** Receives the body: its content is durable when this resolves. */
  readonly receive: () => Promise<ReceivedContent>;
  /**
   * Confirms, once the body has arrived, that the client may still write here.
   * @throws {SwordError} 401, 404: login or grant have been revoked since the request began.
   */
  readonly confirm: () => Promise<void>;
};

/** The content of a request, stored and durable. */
export type ReceivedContent = {
  readonly archive: Archive | null;
  readonly entry: MetadataEntry | null;
  /** The earlier deposit that the entry describes, if it is sent for that alone. */
  readonly target?: MetadataTarget | undefined;
  /** The upload that the request named in place of a body. */
  readonly upload?: NamedUpload;
};

/** An archive that arrived in earlier requests. No other request can name it until this one is answered. */
export type NamedUpload = {
  /**
   * Claims the upload for a command that uses the archive, then runs the append of the command. After it the upload
   * cannot be named again. If the append fails, it can be.
   */
  appendClaimed<Outcome>(command: CommandIds, append: () => Promise<Outcome>): Promise<Outcome>;
};

/** The ids of a command and its deposit: of the first of the repeated requests with a key. */
export type CommandIds = Pick<IdempotencyRecord, 'depositId' | 'commandId' | 'requestId'>;

/** A write that is in the log, and the revision that its answer has to show. */
export type Written = {
  readonly depositId: number;
  readonly revision: number;
  /** Whether the request has a key: each repetition gets the answer of the first. */
  readonly isRepeatable: boolean;
  readonly retries: OutageRetries;
};

/** Returns the context of a client's command. */
export function clientContext(
  { login }: ClientWrite,
  { commandId, requestId }: CommandIds,
  now: string,
): CommandContext {
  return { commandId, actor: { kind: 'client', name: login.client }, now, correlationId: requestId };
}

type AppendedWrite = {
  readonly content: ReceivedContent;
  readonly command: CommandIds;
  readonly retries: OutageRetries;
  readonly append: () => Promise<{ readonly revision: number; readonly position: Position }>;
};

/** Runs the append of a command, then waits, for a limited time, until the views of this node contain its events. */
export async function appendWrite(
  { projector }: DepositParts,
  { key }: ClientWrite,
  { content: { upload }, command, retries, append }: AppendedWrite,
): Promise<Written> {
  const { revision, position } = upload ? await upload.appendClaimed(command, append) : await append();
  await projector.passed(position, VIEW_TIMEOUT_MS);
  return { depositId: command.depositId, revision, isRepeatable: key !== undefined, retries };
}

/** Returns the deposit as a write has left it, or later. @throws {EventLogUnavailable} only older reads are possible */
export async function writtenDeposit(
  { queries }: Pick<DepositParts, 'queries'>,
  { depositId, revision, isRepeatable, retries }: Written,
): Promise<DepositContentView> {
  const deposit = isRepeatable
    ? await queries.contentAt(depositId, revision, retries)
    : await queries.content(depositId, revision, retries);
  if (!deposit) throw notFound(`Deposit ${depositId} has been deleted.`);
  return deposit;
}
