import { errorsOfCode } from '../../tools/coded-error.ts';

/**
 * Administers the groups of the reactors on a server, with the rights of an operator that the service may not
 * have.
 */
export interface GroupAdministration extends AsyncDisposable {
  /**
   * Creates the group of this release unless it exists. Returns whether it existed.
   * @throws {GroupsRefused} the user may not.
   * @throws {EventLogUnavailable}
   */
  create(): Promise<'created' | 'was there'>;

  /**
   * Deletes the groups of older releases that have had no consumer for this time, in milliseconds. Checks at
   * least twice, and resolves when each group is deleted, does not exist, or has had a consumer.
   * @throws {GroupsRefused} the user may not.
   * @throws {EventLogUnavailable}
   */
  deleteRetired(unusedFor: number, signal: AbortSignal): Promise<RetiredGroupsOutcome>;
}

export type RetiredGroupsOutcome = {
  readonly deleted: readonly string[];
  /** Groups that a consumer is connected to: nodes of the older release run. */
  readonly inUse: readonly string[];
};

/** The user of the connection may not administer groups. */
export class GroupsRefused extends errorsOfCode('GROUPS_REFUSED') {
  constructor() {
    super('This user cannot administer persistent subscriptions on $all: connect as one in $ops or $admins.');
  }
}
