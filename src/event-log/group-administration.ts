/** Administers the groups of the reactors on a server, for users who may not do so as the service. */
export interface GroupAdministration extends AsyncDisposable {
  /**
   * Makes the group of this release unless it is there. Returns whether it was.
   * @throws {GroupsRefused} the user may not.
   * @throws {EventLogUnavailable}
   */
  create(): Promise<'created' | 'was there'>;

  /**
   * Deletes the groups of older releases that have no consumer for this time, in milliseconds. Looks at least twice,
   * and resolves when each is deleted, was never there, or has had a consumer.
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
export class GroupsRefused extends Error {
  override readonly name = 'GroupsRefused';
  readonly code = 'GROUPS_REFUSED';

  constructor() {
    super(
      'This user may not administer persistent subscriptions on $all: connect as one in $ops or $admins.',
    );
  }
}
