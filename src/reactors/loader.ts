import type { ArchiveReader } from '../archives/inspection.ts';
import { handleCommand, load } from '../deposits/command-handler.ts';
import { deposits } from '../domain/aggregates.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { Reason } from '../domain/deposit/events.ts';
import type { Deposit, Waiting } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import { ObjectError, type ObjectStore } from '../object-store/object-store.ts';
import { toBuffer, toChunks } from './chunks.ts';
import { commandContext, depositIdOf } from './command-context.ts';
import { ownerOf } from './owner-of.ts';
import type { Reactor } from './reactor.ts';
import { loadedEvent } from './recipe-swh-1.ts';
import { recordUnreadable } from './record-unreadable.ts';

type Loading = Extract<Deposit, { status: 'loading' }>;
type ToLoad = Extract<Waiting, { status: 'verified' | 'loading' }>;

/** Loads each verified deposit, that is, computes its identifiers: `verified` → `loading` → `done` or `failed`. */
export class Loader implements Reactor {
  readonly name = 'loader';
  readonly streamPrefix = deposits.prefix;
  readonly #log: EventLog;
  readonly #store: ObjectStore;
  readonly #reader: ArchiveReader;
  readonly #identity: string;

  /** `identity` becomes author and committer of the revisions: `Name <mail@host>`. */
  constructor(log: EventLog, store: ObjectStore, reader: ArchiveReader, identity: string) {
    this.#log = log;
    this.#store = store;
    this.#reader = reader;
    this.#identity = identity;
  }

  reactsTo({ type }: RecordedEvent): boolean {
    return type === 'DepositVerified' || type === 'LoadingRetried';
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return ownerOf(this.#log, event);
  }

  async react(event: RecordedEvent): Promise<void> {
    const toLoad = await this.#depositToLoad(event);
    if (!toLoad) return;
    const layers = await this.#layers(toLoad); // the deposit stays verified while they cannot be read
    const deposit = await this.#startLoading(event, toLoad);
    if (!deposit) return;
    const overlay = await this.#reader.overlay(layers, deposit.client);
    if (overlay.outcome === 'refused') {
      const text = overlay.faults.map((fault) => fault.text).join(' ');
      await this.#fail(event, deposit, {
        code: overlay.faults[0]?.code ?? 'REFUSED',
        text,
        fields: ['archive'],
      });
      return;
    }
    const manifest = await this.#store.put(toChunks(overlay.manifest));
    const loaded = loadedEvent(deposit, overlay, manifest.sha256, this.#identity);
    await this.#record(event, deposit, 'load', { type: 'RecordLoaded', loaded });
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const toLoad = await this.#depositToLoad(event);
    if (!toLoad) return;
    if (error instanceof ObjectError) {
      const { sha256, code } = error;
      const about = { work: 'load', attempt: toLoad.loadAttempt, sha256, code } as const;
      return recordUnreadable(this.#log, this.name, event, about);
    }
    const deposit = await this.#startLoading(event, toLoad);
    if (!deposit) return;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
    const text = `The deposit could not be loaded (${code}); the operator of the service has to repeat it`;
    await this.#fail(event, deposit, { code: 'LOADING_IMPOSSIBLE', text, fields: ['archive'] });
  }

  async #depositToLoad(event: RecordedEvent): Promise<ToLoad | undefined> {
    const { state } = await load(this.#log, deposits, depositIdOf(event), { atLeast: event.revision });
    return state.status === 'verified' || state.status === 'loading' ? state : undefined;
  }

  /** Resolves to the deposit once it is loading; an earlier, interrupted attempt may have started that. */
  async #startLoading(event: RecordedEvent, toLoad: ToLoad): Promise<Loading | undefined> {
    if (toLoad.status === 'loading') return toLoad;
    const { depositId, loadAttempt: attempt } = toLoad;
    const context = commandContext(event, this.name, `start/${attempt}`);
    const outcome = await handleCommand(
      this.#log,
      deposits,
      depositId,
      { type: 'StartLoading', depositId, attempt },
      context,
      { atLeast: event.revision },
    );
    return outcome.state.status === 'loading' ? outcome.state : undefined;
  }

  async #layers({ readings }: ToLoad): Promise<{ sha256: string; listing: Uint8Array }[]> {
    const layers = [];
    for (const { archive, listing } of readings) {
      const { body, length } = await this.#store.get(listing);
      layers.push({ sha256: archive, listing: await toBuffer(body, length) });
    }
    return layers;
  }

  async #fail(
    event: RecordedEvent,
    { depositId, loadAttempt: attempt }: Loading,
    reason: Reason,
  ): Promise<void> {
    const command = { type: 'RecordLoadingFailed' as const, depositId, attempt, reason };
    await this.#record(event, { depositId, loadAttempt: attempt }, 'fail', command);
  }

  async #record(
    event: RecordedEvent,
    { depositId, loadAttempt }: Pick<Loading, 'depositId' | 'loadAttempt'>,
    step: string,
    command: DepositCommand,
  ): Promise<void> {
    const context = commandContext(event, this.name, `${step}/${loadAttempt}`);
    await handleCommand(this.#log, deposits, depositId, command, context, { atLeast: event.revision });
  }
}
