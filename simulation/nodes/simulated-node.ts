import { clientLogins } from '../../projections/client-logins.ts';
import { type DepositParts, openDeposits } from '../../src/deposits/client-write.ts';
import { KeptStates } from '../../src/deposits/kept-states.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import type { Deliveries } from '../../src/event-log/consumer-groups/deliveries.ts';
import type { ResumableUploads } from '../../src/modules/resumable-uploads/resumable-uploads.ts';
import type { ObjectStore } from '../../src/object-store/object-store.ts';
import { observedReader } from '../../src/observability/port-observers.ts';
import { EventLogParking } from '../../src/reactors/parking.ts';
import { notificationViews } from '../../src/reactors/sweep/notification-views.ts';
import { startReactors } from '../../src/service/start-reactors.ts';
import { Projector } from '../../src/views/projector.ts';
import type { Plan } from '../plan/plan.ts';
import { type Host, type Incarnation, running } from '../world/host.ts';
import { newProcess } from '../world/outside-world.ts';
import { world } from '../world/world.ts';
import { openOfCluster, persistently } from './cluster-engines.ts';
import { drainBefore } from './drain-before.ts';
import { openEmbedded, shownIn } from './embedded-engines.ts';
import { nodeLogger } from './node-logger.ts';
import { BASE_URL, MAX_ARCHIVES, reactorConfig } from './site-settings.ts';

/** A running node: the parts that requests and invariants need. */
export type SimulatedNode = {
  readonly process: Incarnation;
  /** Returns a view of the node; `undefined` if it has none of this name. */
  readonly shown: (view: string) => ReadonlyMap<string, unknown> | undefined;
  readonly projector: Projector;
  readonly store: ObjectStore;
  /** Closed in the order of the service when the node stops. */
  readonly resources: AsyncDisposableStack;
  /** On nodes that serve HTTP. */
  readonly deposits?: DepositParts | undefined;
  /** Requests that are not answered. A stop waits for them. */
  readonly openRequests: Set<Promise<unknown>>;
  /** On embedded nodes. */
  readonly uploads?: ResumableUploads | undefined;
  /** On nodes with reactors. */
  readonly deliveries?: Deliveries | undefined;
};

export type NodeOptions = {
  readonly plan: Pick<Plan, 'composition' | 'stuckAfter'>;
  /** Receives what a node logs as an error. */
  readonly onError: (text: string) => void;
  /** Called when a node cannot go on. */
  readonly onFailure: (host: Host, error: unknown) => void;
  readonly onReady: (node: SimulatedNode) => void;
};

/** Starts a process on a host. */
export function boot(host: Host, options: NodeOptions): void {
  const process = newProcess(host);
  host.started(process);
  world().note('node', `boot ${host.name}`);
  running.run(process, () => {
    start(process, options).catch((error: unknown) => options.onFailure(host, error));
  });
}

/** Builds a node from the parts of the service, as `src/service/open-node.ts` and `src/service/service.ts` do it. */
async function start(process: Incarnation, options: NodeOptions): Promise<void> {
  const { plan, onError, onFailure, onReady } = options;
  const isEmbedded = plan.composition === 'embedded';
  const { role } = process.host;
  const logger = nodeLogger(onError);
  const fail = (error: unknown): void => onFailure(process.host, error);
  await using opened = new AsyncDisposableStack();
  const engines = await (isEmbedded ? openEmbedded : openOfCluster)(process, opened, logger);
  const { log, store, views } = engines;
  const projector = new Projector(log, views);
  opened.defer(() => projector.stop());
  const notified = notificationViews(projector);
  const kept = new KeptStates<Deposit>();
  const about = { log, projector, isShared: !isEmbedded, maxArchives: MAX_ARCHIVES, kept };
  const deposits = role === 'reactors' ? undefined : openDeposits(about);
  if (deposits) projector.add(clientLogins);
  const viewsReady = isEmbedded ? projector.start(fail) : persistently(() => projector.start(fail));
  const deliveries = role === 'http' ? undefined : engines.openDeliveries();
  const reactors =
    deliveries &&
    startReactors(
      {
        config: reactorConfig(plan.stuckAfter),
        log,
        kept,
        store,
        deliveries,
        logger,
        resources: opened,
        projector,
        notified,
        parking: new EventLogParking(log),
        observedReader,
        fail,
      },
      BASE_URL,
      viewsReady,
    );
  const openRequests = drainBefore(opened, store, reactors);
  await viewsReady;
  const resources = opened.move();
  process.isReady = true;
  world().note('node', `${process.name} is ready`);
  onReady({
    process,
    shown: (view) => shownIn(views, view),
    projector,
    store,
    resources,
    openRequests,
    deposits,
    uploads: engines.uploads,
    deliveries,
  });
}
