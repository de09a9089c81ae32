import {
  type GroupAdministration,
  GroupsRefused,
  type RetiredGroupsOutcome,
} from '../group-administration.ts';
import { EventStoreDbConnection } from './connection.ts';
import { translated } from './faults.ts';
import { GROUP, groupInfo } from './group.ts';
import { makeGroup } from './make-group.ts';
import { RetiredGroups } from './retired-groups.ts';
import type { EventStoreDbOptions } from './settings.ts';

/** Between two looks at a group. */
const LOOK_EVERY_MS = 10_000;

/** Does as an administrator what a node does by itself when its user may. */
export class EventStoreDbGroups implements GroupAdministration {
  readonly #connection: EventStoreDbConnection;
  readonly #retiredGroups: readonly string[];

  constructor(options: EventStoreDbOptions & { readonly retiredGroups: readonly string[] }) {
    this.#connection = new EventStoreDbConnection(options);
    this.#retiredGroups = options.retiredGroups;
  }

  async create(): Promise<'created' | 'was there'> {
    // Without an older group the reactors begin at the start of the log.
    const options = { retiredGroups: this.#retiredGroups, start: () => Promise.resolve(undefined) };
    try {
      const outcome = await makeGroup(this.#connection, options, this.#connection.closed);
      if (outcome !== 'denied') return outcome;
    } catch (error) {
      throw translated(`Making the group ${GROUP}`, error);
    }
    throw new GroupsRefused();
  }

  async deleteRetired(unusedFor: number, signal: AbortSignal): Promise<RetiredGroupsOutcome> {
    await this.#reached();
    const [deleted, inUse, denied]: [string[], string[], string[]] = [[], [], []];
    const groups = new RetiredGroups(this.#connection, this.#retiredGroups, {
      unusedFor,
      lookEvery: Math.min(LOOK_EVERY_MS, unusedFor),
      onDeleted: (group) => deleted.push(group),
      onDenied: (group) => denied.push(group),
      onUsed: (group) => {
        inUse.push(group);
        return 'leave it';
      },
    });
    await groups.deleteWhenUnused(AbortSignal.any([signal, this.#connection.closed]));
    if (denied.length > 0) throw new GroupsRefused();
    return { deleted, inUse };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  /** Later faults pass: a group is looked at again. */
  async #reached(): Promise<void> {
    try {
      await groupInfo(this.#connection, GROUP);
    } catch (error) {
      throw translated(`Asking for the group ${GROUP}`, error);
    }
  }
}
