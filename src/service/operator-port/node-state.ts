import type { GroupStatus } from '../../event-log/consumer-groups/deliveries.ts';
import type { NotificationStatus } from '../../modules/webhooks/notification-service.ts';
import type { RunnerStatus } from '../../reactors/reactor-runner.ts';
import type { Sweep } from '../../reactors/sweep/sweep.ts';
import type { Projector } from '../../views/projector.ts';
import type { EnginePlaces } from '../backends/engine-places.ts';
import type { DirectoryId } from './directory-id.ts';

/** The state that a running service reports. Over the port, what is `undefined` is absent. */
export type NodeState = {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  readonly roles: readonly string[];
  readonly engines: EnginePlaces;
  /** Absent in older releases. */
  readonly dataFolder?: DirectoryId;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly views: Projector['reached'];
  /** The reason why the views get no events at the moment. */
  readonly following: string | null;
  /** The failed readiness checks; absent in older releases. */
  readonly problems?: readonly { readonly check: string; readonly reason: string }[];
  /** `null` on a node that sends no notifications. */
  readonly notifications: NotificationStatus | null;
  /** `null` on a node that does not check and load; absent in older releases. */
  readonly sweep?: Pick<Sweep, 'begun' | 'unrecorded'> | null;
  /** `delivery` is `null` while the log does not answer. */
  readonly reactors: readonly (RunnerStatus & { readonly delivery: GroupStatus | null })[];
};
