import { hash } from 'node:crypto';
import type { ArchiveLimits, ArchiveReader, Inspection } from '../archives/inspection.ts';
import { handleCommand, load } from '../deposits/command-handler.ts';
import { clients, deposits } from '../domain/aggregates.ts';
import { type ArchiveVerdict, check, type Finding } from '../domain/deposit/checks.ts';
import type { DepositCommand } from '../domain/deposit/commands.ts';
import type { Archive } from '../domain/deposit/events.ts';
import type { Deposit } from '../domain/deposit/state.ts';
import type { EventLog, RecordedEvent } from '../event-log/event-log.ts';
import {
  ObjectError,
  ObjectMissing,
  type ObjectStore,
  ObjectUnreadable,
} from '../object-store/object-store.ts';
import { toChunks } from './chunks.ts';
import { commandContext, depositIdOf } from './command-context.ts';
import { ownerOf } from './owner-of.ts';
import type { Reactor } from './reactor.ts';
import { recordUnreadable } from './record-unreadable.ts';
import { isTransient } from './transient-faults.ts';

/** Checks each complete deposit: `deposited` → `verified` or `rejected`. */
export class Checker implements Reactor {
  readonly name = 'checker';
  readonly streamPrefix = deposits.prefix;
  readonly #log: EventLog;
  readonly #store: ObjectStore;
  readonly #reader: ArchiveReader;
  readonly #limits: ArchiveLimits;

  constructor(log: EventLog, store: ObjectStore, reader: ArchiveReader, limits: ArchiveLimits) {
    this.#log = log;
    this.#store = store;
    this.#reader = reader;
    this.#limits = limits;
  }

  reactsTo({ type }: RecordedEvent): boolean {
    return type === 'DepositCompleted' || type === 'ChecksRetried';
  }

  ownerOf(event: RecordedEvent): Promise<string> {
    return ownerOf(this.#log, event);
  }

  async react(event: RecordedEvent): Promise<void> {
    const deposit = await this.#depositToCheck(event);
    if (!deposit) return;
    const { depositId, checkAttempt: attempt } = deposit;
    const inspected = await Promise.all(
      deposit.archives.map((archive) => this.#inspect(archive, deposit.client)),
    );
    const outcome = check({
      entries: deposit.entries,
      archives: inspected.map(({ verdict }) => verdict),
      conflicts: await this.#conflicts(inspected, deposit.client),
      clientDomain: await this.#domainOf(deposit.client),
    });
    const { warnings } = outcome;
    if (outcome.verified) await this.#storeListings(inspected);
    await this.#record(
      event,
      attempt,
      outcome.verified
        ? { type: 'RecordVerified', depositId, attempt, readings: outcome.readings, warnings }
        : { type: 'RecordRejected', depositId, attempt, reasons: outcome.reasons, warnings },
    );
  }

  async giveUp(event: RecordedEvent, error: unknown): Promise<void> {
    const deposit = await this.#depositToCheck(event);
    if (!deposit) return;
    const { depositId, checkAttempt: attempt } = deposit;
    if (error instanceof ObjectError) {
      const { sha256, code } = error;
      return recordUnreadable(this.#log, this.name, event, { work: 'check', attempt, sha256, code });
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
    const text = `The checks could not be carried out (${code}); the operator of the service has to repeat them`;
    const reasons = [{ code: 'CHECKS_IMPOSSIBLE', text, fields: ['archive'] }];
    await this.#record(event, attempt, { type: 'RecordRejected', depositId, attempt, reasons, warnings: [] });
  }

  async #depositToCheck(
    event: RecordedEvent,
  ): Promise<Extract<Deposit, { status: 'deposited' }> | undefined> {
    const { state } = await load(this.#log, deposits, depositIdOf(event), { atLeast: event.revision });
    return state.status === 'deposited' ? state : undefined;
  }

  async #record(event: RecordedEvent, attempt: number, command: DepositCommand): Promise<void> {
    const id = depositIdOf(event);
    const context = commandContext(event, this.name, `${attempt}`);
    await handleCommand(this.#log, deposits, id, command, context, { atLeast: event.revision });
  }

  async #inspect(archive: Archive, client: string): Promise<Inspected> {
    await using object = await this.#store.materialize(archive.sha256);
    const { sha256 } = archive;
    const inspection = await this.#reader
      .inspect(object.source, sha256, this.#limits, client)
      .catch((error: unknown) => Promise.reject(objectErrorOf(error, sha256)));
    if (inspection.outcome === 'refused') return refusedInspection(archive, inspection.faults);
    return acceptedInspection(archive, inspection);
  }

  /** Stores the listings of a verified deposit. Those of a rejected deposit would be orphans. */
  async #storeListings(inspected: readonly Inspected[]): Promise<void> {
    const listings = inspected.flatMap(({ layer }) => layer?.listing ?? []);
    await Promise.all(listings.map((listing) => this.#store.put(toChunks(listing))));
  }

  /** Returns the conflicts between archives that are merged; a single archive has none. */
  async #conflicts(inspected: readonly Inspected[], client: string): Promise<readonly Finding[]> {
    const layers = inspected.flatMap(({ layer }) => layer ?? []);
    if (layers.length < 2 || layers.length < inspected.length) return [];
    // the workers take ownership of them
    const copies = layers.map((layer) => ({ ...layer, listing: layer.listing.slice() }));
    const overlay = await this.#reader.overlay(copies, client);
    return overlay.outcome === 'refused' ? overlay.faults : [];
  }

  /** Reads the domain from the log, not from a view: any node may check, even one whose views are behind. */
  async #domainOf(client: string): Promise<string | null> {
    const { state } = await load(this.#log, clients, client);
    return state.status === 'unknown' ? null : state.domain;
  }
}

/** Converts a file-system error into the error of the object; returns any other error unchanged. */
function objectErrorOf(error: unknown, sha256: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || isTransient(error)) return error;
  return code === 'ENOENT' ? new ObjectMissing(sha256) : new ObjectUnreadable(sha256, code, { cause: error });
}

type Inspected = {
  readonly verdict: ArchiveVerdict;
  readonly layer: { readonly sha256: string; readonly listing: Uint8Array; readonly name: string } | null;
};

function refusedInspection(archive: Archive, faults: readonly Finding[]): Inspected {
  return { verdict: { archive, reading: null, faults, warnings: [] }, layer: null };
}

function acceptedInspection(
  archive: Archive,
  { format, files, bytes, warnings, listing }: Extract<Inspection, { outcome: 'accepted' }>,
): Inspected {
  const reading = { archive: archive.sha256, format, files, bytes, listing: hash('sha256', listing) };
  const layer = { sha256: archive.sha256, listing, name: archive.filename };
  return { verdict: { archive, reading, faults: [], warnings }, layer };
}
