import { type CheckParts, checkDeposit, type Loadable } from '../deposits/check.ts';
import {
  type CommandContext,
  type HandleOptions,
  handleCommand,
  type NextCommand,
  readState,
} from '../deposits/command-handler.ts';
import type { KeptStates } from '../deposits/kept-states.ts';
import { failLoading, type LoadParts, loadDeposit, loadingCommands, type ToLoad } from '../deposits/load.ts';
import type { StreamState } from '../deposits/stream-state.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { UnreadableCopy } from '../domain/deposit/events.ts';
import type { Deposit, Waiting } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { eventId } from '../event-log/integrity/hash-chain.ts';
import { ObjectError } from '../object-store/object-store.ts';
import { codeOf } from '../tools/coded-error.ts';
import { random } from '../tools/random.ts';
import { type CausingEvent, commandContext, depositIdOf } from './command-context.ts';
import type { Reactor } from './reactor.ts';
import { AWAITED } from './reactor-names.ts';

/**
 * Returns the reactor that checks each complete deposit. What the check loads as well is recorded as the loader would
 * have recorded it, with the ids of its commands: it finds nothing to do then.
 */
export function checker({
  identity,
  ...parts
}: CheckParts & DepositLog & Pick<LoadParts, 'identity'>): Reactor {
  const loaderCommands =
    ({ tree, manifest }: Loadable): Follow =>
    (verified) =>
      loadingCommands(tree, manifest, identity).map(({ step, commandFor }) => ({
        commandFor,
        context: commandContext(verified, 'loader', `${step}/${FIRST_LOAD}`),
      }));
  return new DepositReactor<Extract<Deposit, { status: 'deposited' }>>(parts, {
    name: 'checker',
    work: 'check',
    causes: AWAITED.deposited.begins,
    statuses: ['deposited'],
    attemptOf: ({ checkAttempt }) => checkAttempt,
    run: (deposit, record, { position }) =>
      checkDeposit(parts, deposit, position, (command, loadable) =>
        record(command, undefined, loadable && loaderCommands(loadable)),
      ),
    fail: ({ depositId, checkAttempt: attempt }, code, record) => {
      const text = `The checks could not be carried out (${code}); the operator of the service has to repeat them`;
      const reasons = [{ code: 'CHECKS_IMPOSSIBLE', text, fields: ['archive'] }];
      return record({ type: 'RecordRejected', depositId, attempt, reasons, warnings: [] });
    },
  });
}

/** The attempt of the load of a deposit that was just verified. */
const FIRST_LOAD = 1;

/** Slots of a reactor. A client has half of them. */
export const REACTOR_SLOTS = 32;
/**
 * Slots of a deposit whose archives may be large or many: its listings are in memory, and on S3 its archives in a
 * folder, while others wait to be read. Small deposits mostly wait for the disk, so that more of them share a sync.
 */
const SLOTS_OF_LARGE = 4;
/** The longest archive, in bytes, of a small deposit, which has only this one. */
const SMALL_ARCHIVE = 1024 ** 2;

export function loader({ log, kept, ...parts }: LoadParts & DepositLog): Reactor {
  return new DepositReactor<ToLoad>(
    { log, kept },
    {
      name: 'loader',
      work: 'load',
      causes: AWAITED.verified.begins,
      statuses: ['verified', 'loading'],
      attemptOf: ({ loadAttempt }) => loadAttempt,
      run: (deposit, record) => loadDeposit(parts, deposit, record),
      fail: (deposit, code, record) => {
        const text = `The deposit could not be loaded (${code}); the operator of the service has to repeat it`;
        return failLoading(deposit, text, record);
      },
    },
  );
}

/** A task that a reactor does for each deposit in some states. */
type Task<State extends Waiting> = {
  readonly name: string;
  readonly work: UnreadableCopy['work'];
  /** Events after which a deposit waits for the task. */
  readonly causes: ReadonlySet<string>;
  /** States of a deposit that waits for the task. */
  readonly statuses: readonly State['status'][];
  readonly attemptOf: (deposit: State) => number;
  /** Does the task for an event and records its outcome. */
  readonly run: (deposit: State, record: RecordStep, event: RecordedEvent) => Promise<void>;
  /** Records that the task failed repeatedly, with the code of its error. */
  readonly fail: (deposit: State, code: string, record: RecordStep) => Promise<unknown>;
};

/**
 * Records a step by a command; resolves to the deposit after it. `follow` returns the commands that the event of the
 * command causes, which are appended with it.
 */
type RecordStep = (command: DepositCommand, step?: string, follow?: Follow) => Promise<Deposit>;
type Follow = (cause: CausingEvent) => readonly NextCommand<Deposit, DepositCommand>[];

/** The log, and the deposits that this process has appended to last. */
type DepositLog = { readonly log: EventLog; readonly kept?: KeptStates<Deposit> | undefined };

/** Does a task for each deposit that waits for it. */
class DepositReactor<State extends Waiting> implements Reactor {
  readonly name: string;
  readonly streamPrefix = deposits.prefix;
  readonly #log: DepositLog['log'];
  readonly #kept: DepositLog['kept'];
  readonly #task: Task<State>;

  constructor({ log, kept }: DepositLog, task: Task<State>) {
    this.name = task.name;
    this.#log = log;
    this.#kept = kept;
    this.#task = task;
  }

  /** Returns whether the deposit may wait for the task: what is kept may prove that it does not. */
  reactsTo(event: RecordedEvent): boolean {
    return this.#task.causes.has(event.type) && !this.#isProvenDone(event);
  }

  /** Returns whether nothing is left to do, as after a load that the check recorded. */
  isDone(event: RecordedEvent): boolean {
    return this.#task.causes.has(event.type) && this.#isProvenDone(event);
  }

  async ownerOf(event: RecordedEvent): Promise<string> {
    const { state } = this.#kept?.provenBy(event) ?? {};
    return state && 'client' in state ? state.client : ownerOf(this.#log, event);
  }

  /** Returns one slot for a deposit that is known to be small. */
  slotsOf(event: RecordedEvent): number {
    const { state } = this.#kept?.provenBy(event) ?? {};
    const archives = state && 'archives' in state ? state.archives : undefined;
    const isSmall = archives?.length === 1 && archives.every(({ length }) => length <= SMALL_ARCHIVE);
    return isSmall ? 1 : SLOTS_OF_LARGE;
  }

  async hasWork(event: RecordedEvent): Promise<boolean> {
    return this.#waiting((await this.#present(event)).state) !== undefined;
  }

  async react(event: RecordedEvent): Promise<void> {
    const present = await this.#present(event);
    const deposit = this.#waiting(present.state);
    if (deposit) await this.#task.run(deposit, this.#recorder(event, deposit, present), event);
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const present = await this.#present(event);
    const deposit = this.#waiting(present.state);
    if (!deposit) return;
    if (error instanceof ObjectError) return this.#recordUnreadable(event, deposit, error);
    const code = codeOf(error) ?? 'unexpected error';
    await this.#task.fail(deposit, code, this.#recorder(event, deposit, present));
  }

  /** Returns the deposit as it is, or as it was at the event. */
  async #present(event: RecordedEvent): Promise<StreamState<Deposit>> {
    const kept = this.#kept?.provenBy(event);
    return kept ?? readState(this.#log, deposits, depositIdOf(event), { atLeast: event.revision });
  }

  #waiting(deposit: Deposit): State | undefined {
    const waits = this.#task.statuses.some((status) => status === deposit.status);
    return waits ? (deposit as State) : undefined; // by its status
  }

  #isProvenDone(event: RecordedEvent): boolean {
    const proven = this.#kept?.provenBy(event);
    return proven !== undefined && this.#waiting(proven.state) === undefined;
  }

  /** Returns the function that records steps: the first one is decided on the deposit as it was found. */
  #recorder(event: RecordedEvent, deposit: State, found: StreamState<Deposit>): RecordStep {
    const attempt = this.#task.attemptOf(deposit);
    let from: StreamState<Deposit> | undefined = found;
    return (command, step, follow) => {
      const context = commandContext(
        event,
        this.name,
        step === undefined ? `${attempt}` : `${step}/${attempt}`,
      );
      const metadata = { $correlationId: context.correlationId };
      const next = follow?.({ id: eventId(context.commandId, 0), metadata });
      const recorded = this.#record(event, command, context, { from, ...(next && { next }) });
      // What another node appended under the same ids instead is answered as a success: the next step reads again.
      from = undefined;
      return recorded;
    };
  }

  /** Records why a deposit cannot continue for now. Its status stays; its detail says that the client need not act. */
  async #recordUnreadable(
    event: RecordedEvent,
    deposit: State,
    { sha256, code }: ObjectError,
  ): Promise<void> {
    const copy = { work: this.#task.work, attempt: this.#task.attemptOf(deposit), object: sha256, code };
    // The event may be retried and then fail for another object: each time needs a command id of its own.
    const context = { ...commandContext(event, this.name, 'unreadable'), commandId: random.uuid() };
    await this.#record(event, { type: 'RecordUnreadable', depositId: deposit.depositId, copy }, context);
  }

  async #record(
    event: RecordedEvent,
    command: DepositCommand,
    context: CommandContext,
    how: Pick<HandleOptions<Deposit, DepositCommand>, 'from' | 'next'> = {},
  ): Promise<Deposit> {
    const options = { atLeast: event.revision, kept: this.#kept, ...how };
    return (await handleCommand(this.#log, deposits, depositIdOf(event), command, context, options)).state;
  }
}

/** Returns the client that owns the deposit of an event, from the first event of its stream. */
export async function ownerOf(log: EventLog, { stream }: RecordedEvent): Promise<string> {
  const [stored] = await Array.fromAsync(log.readStream(stream, { limit: 1 }));
  const first = stored && deposits.codec.read(stored);
  return first?.type === 'DepositCreated' ? first.data.client : stream;
}
