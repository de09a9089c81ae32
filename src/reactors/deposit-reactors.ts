import { type CheckParts, checkDeposit } from '../deposits/check.ts';
import { type CommandContext, handleCommand, load } from '../deposits/command-handler.ts';
import { failLoading, type LoadParts, loadDeposit, type ToLoad } from '../deposits/load.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { DepositEvent, UnreadableCopy } from '../domain/deposit/events.ts';
import type { Deposit, Waiting } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { ObjectError } from '../object-store/object-store.ts';
import { random } from '../tools/random.ts';
import { commandContext, depositIdOf } from './command-context.ts';
import type { Reactor } from './reactor.ts';

/** Returns the reactor that checks each complete deposit. */
export function checker(parts: CheckParts): Reactor {
  return new DepositReactor<Extract<Deposit, { status: 'deposited' }>>(parts.log, {
    name: 'checker',
    work: 'check',
    causes: ['DepositCompleted', 'ChecksRetried'],
    statuses: ['deposited'],
    attemptOf: ({ checkAttempt }) => checkAttempt,
    run: (deposit, record) => checkDeposit(parts, deposit, record),
    fail: ({ depositId, checkAttempt: attempt }, code, record) => {
      const text = `The checks could not be carried out (${code}); the operator of the service has to repeat them`;
      const reasons = [{ code: 'CHECKS_IMPOSSIBLE', text, fields: ['archive'] }];
      return record({ type: 'RecordRejected', depositId, attempt, reasons, warnings: [] });
    },
  });
}

/** Returns the reactor that loads each verified deposit. */
export function loader({ log, ...parts }: LoadParts & { readonly log: EventLog }): Reactor {
  return new DepositReactor<ToLoad>(log, {
    name: 'loader',
    work: 'load',
    causes: ['DepositVerified', 'LoadingRetried'],
    statuses: ['verified', 'loading'],
    attemptOf: ({ loadAttempt }) => loadAttempt,
    run: (deposit, record) => loadDeposit(parts, deposit, record),
    fail: (deposit, code, record) => {
      const text = `The deposit could not be loaded (${code}); the operator of the service has to repeat it`;
      return failLoading(deposit, 'LOADING_IMPOSSIBLE', text, record);
    },
  });
}

/** A task that a reactor does for each deposit in some states. */
type Task<State extends Waiting> = {
  readonly name: string;
  readonly work: UnreadableCopy['work'];
  /** Events after which a deposit waits for the task. */
  readonly causes: readonly DepositEvent['type'][];
  /** States of a deposit that waits for the task. */
  readonly statuses: readonly State['status'][];
  /** Returns the number of the attempt. */
  readonly attemptOf: (deposit: State) => number;
  /** Does the task and records its outcome. */
  readonly run: (deposit: State, record: RecordStep) => Promise<void>;
  /** Records that the task failed repeatedly, with the code of its error. */
  readonly fail: (deposit: State, code: string, record: RecordStep) => Promise<unknown>;
};

/** Records a step by a command; resolves to the deposit after it. */
type RecordStep = (command: DepositCommand, step?: string) => Promise<Deposit>;

/** Does a task for each deposit that waits for it. */
class DepositReactor<State extends Waiting> implements Reactor {
  readonly name: string;
  readonly streamPrefix = deposits.prefix;
  readonly #log: EventLog;
  readonly #task: Task<State>;

  constructor(log: EventLog, task: Task<State>) {
    this.name = task.name;
    this.#log = log;
    this.#task = task;
  }

  reactsTo({ type }: RecordedEvent): boolean {
    return this.#task.causes.some((cause) => cause === type);
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return ownerOf(this.#log, event);
  }

  async react(event: RecordedEvent): Promise<void> {
    const deposit = await this.#waitingDeposit(event);
    if (deposit) await this.#task.run(deposit, this.#recorder(event, deposit));
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const deposit = await this.#waitingDeposit(event);
    if (!deposit) return;
    if (error instanceof ObjectError) return this.#recordUnreadable(event, deposit, error);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
    await this.#task.fail(deposit, code, this.#recorder(event, deposit));
  }

  async #waitingDeposit(event: RecordedEvent): Promise<State | undefined> {
    const { state } = await load(this.#log, deposits, depositIdOf(event), { atLeast: event.revision });
    const waits = this.#task.statuses.some((status) => status === state.status);
    return waits ? (state as State) : undefined; // by its status
  }

  #recorder(event: RecordedEvent, deposit: State): RecordStep {
    const attempt = this.#task.attemptOf(deposit);
    return (command, step) => {
      const id = step === undefined ? `${attempt}` : `${step}/${attempt}`;
      return this.#record(event, command, commandContext(event, this.name, id));
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

  async #record(event: RecordedEvent, command: DepositCommand, context: CommandContext): Promise<Deposit> {
    const options = { atLeast: event.revision };
    return (await handleCommand(this.#log, deposits, depositIdOf(event), command, context, options)).state;
  }
}

/** Returns the client that owns the deposit of an event, from the first event of its stream. */
export async function ownerOf(log: EventLog, { stream }: RecordedEvent): Promise<string> {
  for await (const stored of log.readStream(stream, { limit: 1 })) {
    const first = deposits.codec.read(stored);
    if (first.type === 'DepositCreated') return first.data.client;
  }
  return stream;
}
