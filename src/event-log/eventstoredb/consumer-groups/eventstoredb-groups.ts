import {
  type GroupAdministration,
  GroupsRefused,
  type RetiredGroupsOutcome,
} from '../../consumer-groups/group-administration.ts';
import { EventStoreDbConnection } from '../connection.ts';
import type { EventStoreDbOptions } from '../settings.ts';
import { GROUP, groupInfo, makeGroup } from './group.ts';
import { deleteRetiredGroups } from './retired-groups.ts';

/** Milliseconds between two checks of a group. */
const LOOK_EVERY_MS = 10_000;

/** Performs, with the rights of an administrator, the tasks that a node performs itself if its user may. */
export class EventStoreDbGroups implements GroupAdministration {
  readonly #connection: EventStoreDbConnection;
  readonly #retiredGroups: readonly string[];

  constructor(options: EventStoreDbOptions & { readonly retiredGroups: readonly string[] }) {
    this.#connection = new EventStoreDbConnection(options);
    this.#retiredGroups = options.retiredGroups;
  }

  async create(): Promise<'created' | 'was there'> {
    // Without an older group the reactors start at the beginning of the log.
    const options = { retiredGroups: this.#retiredGroups, start: () => Promise.resolve(undefined) };
    try {
      const outcome = await makeGroup(this.#connection, options, this.#connection.closed);
      if (outcome !== 'denied') return outcome;
    } catch (error) {
      throw await this.#connection.toLogError(`Creating the group ${GROUP}`, error);
    }
    throw new GroupsRefused();
  }

  async deleteRetired(unusedFor: number, signal: AbortSignal): Promise<RetiredGroupsOutcome> {
    await this.#assertReachable();
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

  /** Rejects when the server cannot be reached. Later faults are transient: a group is checked again. */
  async #assertReachable(): Promise<void> {
    try {
      await groupInfo(this.#connection, GROUP);
    } catch (error) {
      throw await this.#connection.toLogError(`Reading the group ${GROUP}`, error);
    }
  }
}
