import { errorsOfCode } from '../../../tools/coded-error.ts';
import { EventStoreDbConnection } from '../connection.ts';
import type { EventStoreDbOptions } from '../settings.ts';
import { GROUP, groupInfo, makeGroup } from './group.ts';
import { deleteRetiredGroups } from './retired-groups.ts';

/** Milliseconds between two checks of a group. */
const LOOK_EVERY_MS = 10_000;

/** The user of the connection may not administer groups. */
class GroupsRefused extends errorsOfCode('GROUPS_REFUSED') {
  constructor() {
    super('This user cannot administer persistent subscriptions on $all: connect as one in $ops or $admins.');
  }
}

/**
 * Administers the groups of the reactors, with the rights of an operator that the service may not have: the tasks that
 * a node performs itself if its user may.
 */
export class EventStoreDbGroups implements AsyncDisposable {
  readonly #connection: EventStoreDbConnection;
  readonly #retiredGroups: readonly string[];

  constructor(options: EventStoreDbOptions & { readonly retiredGroups: readonly string[] }) {
    this.#connection = new EventStoreDbConnection(options);
    this.#retiredGroups = options.retiredGroups;
  }

  /**
   * Creates the group of this release unless it exists.
   * @throws {GroupsRefused} @throws {EventLogUnavailable}
   */
  async create(): Promise<'created' | 'was there'> {
    // Without an older group the reactors start at the beginning of the log.
    const options = { retiredGroups: this.#retiredGroups, start: () => Promise.resolve(undefined) };
    const making = makeGroup(this.#connection, options, this.#connection.closed);
    const outcome = await this.#connection.orLogError(`Creating the group ${GROUP}`, making);
    if (outcome === 'denied') throw new GroupsRefused();
    return outcome;
  }

  /**
   * Deletes the groups of older releases that have had no consumer for this time, in milliseconds. Checks at least
   * twice. Resolves, when each group is deleted, does not exist, or has had a consumer, to the deleted ones and to
   * those to which nodes of an older release are connected.
   * @throws {GroupsRefused} @throws {EventLogUnavailable}
   */
  async deleteRetired(unusedFor: number, signal: AbortSignal) {
    // Later faults are transient: a group is checked again.
    const reading = groupInfo(this.#connection, GROUP);
    await this.#connection.orLogError(`Reading the group ${GROUP}`, reading);
    const [deleted, inUse, denied]: [string[], string[], string[]] = [[], [], []];
    const options = {
      unusedFor,
      lookEvery: Math.min(LOOK_EVERY_MS, unusedFor),
      onDeleted: (group: string) => deleted.push(group),
      onDenied: (group: string) => denied.push(group),
      onUsed: (group: string): 'leave it' => {
        inUse.push(group);
        return 'leave it';
      },
    };
    const stop = AbortSignal.any([signal, this.#connection.closed]);
    await deleteRetiredGroups(this.#connection, this.#retiredGroups, options, stop);
    if (denied.length > 0) throw new GroupsRefused();
    return { deleted, inUse };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }
}
