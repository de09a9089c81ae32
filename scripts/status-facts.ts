import { statfs } from 'node:fs/promises';
import { type DepositStatusView, depositStatus } from '../projections/deposit-status.ts';
import { everyView } from '../projections/every-view.ts';
import { undeliveredNotifications } from '../projections/undelivered-notifications.ts';
import type { ArchiveStore } from '../src/archive-store/archive-store.ts';
import type { Config } from '../src/config.ts';
import { deposits } from '../src/domain/aggregates.ts';
import { PASSING } from '../src/domain/deposit/status-detail.ts';
import { openDeliveriesOf, openView } from '../src/engines.ts';
import type { EventLog } from '../src/event-log/event-log.ts';
import type { LogServer } from '../src/event-log/open-event-log.ts';
import { waitingAfter } from '../src/event-log/waiting-events.ts';
import { OperatorFileDamaged } from '../src/operator/operator-file.ts';
import {
  OperatorRefusal,
  RunningService,
  ServiceSilent,
  type ServiceState,
} from '../src/operator/running-service.ts';
import { parkedEvents } from '../src/reactors/parking.ts';
import { PARKING, REACTORS } from '../src/reactors/reactor-names.ts';
import type { LookedAtView } from '../src/read-models/looked-at-view.ts';
import { ViewUnavailable } from '../src/read-models/view-unavailable.ts';
import { countStuck } from '../src/sweep/stuck-deposits.ts';
import { clock } from '../src/tools/clock.ts';
import { refused } from './command.ts';

/** How long the objects of the store are counted; of a large store only a part is. */
const COUNTING_TIME = 1500;

const UNTOLD =
  'The service runs, but the event log does not tell it how far reactors are: "/health/ready" says what is wrong.';

export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;

/** Everything that `status` shows. Lags are counted up to 1,000 events. */
export async function statusFacts(
  config: Config,
  log: EventLog,
  store: ArchiveStore,
  server: LogServer | undefined,
) {
  const { state, silence } = await asked(config);
  const views = new StoredViews(config);
  const at = clock.date().toISOString(); // the counts are of this moment
  const [reactors, parked, objects, disk] = await Promise.all([
    reactorFacts(config, log, state),
    Promise.all(PARKING.map((reactor) => parkedEvents(log, reactor))),
    objectFacts(store),
    statfs(config.dataDir),
  ]);
  return {
    at,
    service: state ? serviceFacts(state) : null,
    /** Why nothing is known of a service that should be there. */
    silence,
    log: { engine: config.eventLog.kind, position: (await log.head()) ?? null, server: serverFacts(server) },
    views: await Promise.all(
      viewsOf(state).map(({ name, source }) => viewFacts(views, log, name, source.prefix, state)),
    ),
    reactors,
    deposits: depositFacts(views, config.stuckAfter),
    notifications: notificationFacts(views, state),
    sweep: state?.sweep ?? null,
    /** A sentence each: what they would tell is `null` here. */
    damagedViews: [...views.faults],
    parked: parked.flat(),
    store: { engine: config.archiveStore.kind, note: durabilityNote(config), ...objects },
    diskFreeBytes: disk.bavail * disk.bsize,
  };
}

async function asked({
  dataDir,
}: Config): Promise<{ state: ServiceState | undefined; silence: string | null }> {
  try {
    const service = await RunningService.find(dataDir);
    return { state: await service?.told(), silence: null };
  } catch (error) {
    const isOfAsking = [OperatorFileDamaged, ServiceSilent, OperatorRefusal].some(
      (kind) => error instanceof kind,
    );
    if (!isOfAsking) throw error;
    return { state: undefined, silence: (error as Error).message };
  }
}

/** `null` for a log that needs no server. */
function serverFacts(server: LogServer | undefined) {
  return server ? { version: server.version, warning: server.warning ?? null } : null;
}

/** Returns the views that the running node keeps; without one, all that a node may keep. */
function viewsOf(state: ServiceState | undefined): typeof everyView {
  return state ? everyView.filter(({ name }) => state.views.some((view) => view.name === name)) : everyView;
}

function serviceFacts({ version, pid, url, roles, startedAt, following }: ServiceState) {
  return { version, pid, url, roles, startedAt, following };
}

async function viewFacts(
  views: StoredViews,
  log: EventLog,
  name: string,
  prefix: string,
  state?: ServiceState,
) {
  const shown = state?.views.find((view) => view.name === name);
  const position = (state ? shown?.position : views.read(name, (view) => view.position)) ?? null;
  const { count, oldest } = await waitingAfter(log, position ?? undefined, prefix);
  return { name, position, lagEvents: count, lagSeconds: ageOf(oldest), done: shown?.events ?? null };
}

async function reactorFacts(config: Config, log: EventLog, state?: ServiceState) {
  if (state && state.reactors.length > 0) {
    return state.reactors.map(({ delivery, ...standing }) => {
      if (!delivery) throw refused('EVENT_LOG_UNAVAILABLE', UNTOLD);
      const { position = null, waiting, oldest } = delivery;
      return { ...standing, position, lagEvents: waiting, lagSeconds: ageOf(oldest) };
    });
  }
  const deliveries = await openDeliveriesOf(config, log);
  try {
    return await Promise.all(
      REACTORS.map(async (name) => {
        const { position = null, waiting, oldest } = await deliveries.standing(name, deposits.prefix);
        return {
          name,
          underWay: 0,
          done: null,
          failures: null,
          lastError: null,
          position,
          lagEvents: waiting,
          lagSeconds: ageOf(oldest),
        };
      }),
    );
  } finally {
    await deliveries[Symbol.asyncDispose]?.();
  }
}

/** `null` on a node that keeps no views, or has a damaged one. */
function depositFacts(views: StoredViews, stuckAfter: number) {
  return views.read(depositStatus.name, (view) => depositsIn(view, stuckAfter)) ?? null;
}

function depositsIn(view: LookedAtView, stuckAfter: number) {
  const stuck = countStuck(view, new Date(clock.now() - stuckAfter).toISOString());
  const oldest = PASSING.flatMap((status) => {
    const found = view.find({ equal: { status }, orderBy: 'updatedAt', limit: 1 }) as DepositStatusView[];
    return found.map(({ depositId, updatedAt }) => ({
      status,
      depositId,
      since: updatedAt,
      ageSeconds: ageOf(updatedAt),
    }));
  });
  return {
    byStatus: Object.fromEntries(view.counts()),
    oldest,
    stuck: { byStatus: stuck, afterSeconds: stuckAfter / 1000 },
  };
}

/** Deposits with notifications that wait, on whatever node, and what this one has done about notifications. */
function notificationFacts(views: StoredViews, state?: ServiceState) {
  if (state?.notifications) {
    const { waiting, taken, failed, tooOld, keyProblem } = state.notifications;
    return { waiting, taken, failed, tooOld, keyProblem };
  }
  const counts = views.read(undeliveredNotifications.name, (view) => view.counts());
  if (!counts) return null;
  let waiting = 0;
  for (const [client, count] of counts) if (client !== '') waiting += count;
  return { waiting, taken: null, failed: null, tooOld: null, keyProblem: null };
}

/** `null` where an answered write survives a power cut. */
function durabilityNote({ archiveStore, s3Durable }: Config): string | null {
  if (archiveStore.kind === 'file' || s3Durable) return null;
  const value = s3Durable === null ? 'not set' : 'no';
  return `DEPOSIT_S3_DURABLE is ${value}: a power cut may lose objects that the store has acknowledged.`;
}

async function objectFacts(store: ArchiveStore) {
  const until = clock.monotonic() + COUNTING_TIME;
  let [objects, bytes] = [0, 0];
  for await (const { length } of store.list()) {
    objects += 1;
    bytes += length;
    if (clock.monotonic() > until) return { objects, bytes, isWhole: false };
  }
  return { objects, bytes, isWhole: true };
}

/** Views as they lie in their files. */
class StoredViews {
  readonly #config: Config;
  readonly faults = new Set<string>();

  constructor(config: Config) {
    this.#config = config;
  }

  /** `undefined` where the view is missing, or damaged: then `faults` tell of it. */
  read<Found>(name: string, read: (view: LookedAtView) => Found): Found | undefined {
    try {
      using view = this.#open(name);
      return view && read(view);
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.faults.add(error.message);
      return undefined;
    }
  }

  #open(name: string): LookedAtView | undefined {
    try {
      return openView(this.#config, { name });
    } catch (error) {
      if (error instanceof ViewUnavailable) throw error;
      return undefined;
    }
  }
}

function ageOf(time: string | undefined): number {
  return time === undefined ? 0 : Math.max(0, Math.round((clock.now() - Date.parse(time)) / 100) / 10);
}
