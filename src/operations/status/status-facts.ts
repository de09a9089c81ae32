import { type DepositStatusView, depositStatus } from '../../../projections/deposit-status.ts';
import { everyView } from '../../../projections/every-view.ts';
import { undeliveredNotifications } from '../../../projections/undelivered-notifications.ts';
import type { Config } from '../../config/config.ts';
import { deposits } from '../../domain/aggregates.ts';
import { UNFINISHED } from '../../domain/deposit/status-detail.ts';
import type { GroupStatus } from '../../event-log/consumer-groups/deliveries.ts';
import { lagAfter } from '../../event-log/consumer-groups/lag.ts';
import { type EventLog, EventLogUnavailable } from '../../event-log/event-log.ts';
import {
  type ObjectStore,
  ObjectStoreUnavailable,
  StoreFormatUnknown,
} from '../../object-store/object-store.ts';
import { parkedEvents } from '../../reactors/parking.ts';
import { ALL_REACTORS, DEPOSIT_REACTORS } from '../../reactors/reactor-names.ts';
import { countStuck } from '../../reactors/sweep/stuck-deposits.ts';
import { BackendNotFound } from '../../service/backends/backend-not-found.ts';
import { logIdentity } from '../../service/backends/engine-places.ts';
import { lastSuccess } from '../../service/backends/last-success.ts';
import { type askLogServer, openDeliveries } from '../../service/backends/open-log.ts';
import { openView, type StoredView } from '../../service/backends/open-view.ts';
import { ControlClient } from '../../service/operator-port/control-client.ts';
import type { NodeState } from '../../service/operator-port/node-state.ts';
import { clock } from '../../tools/clock.ts';
import { NotPermitted } from '../../tools/files/access.ts';
import { files } from '../../tools/files.ts';
import { ForeignJournal, WalNotReadable } from '../../tools/sqlite/reading.ts';
import { ViewUnavailable } from '../../views/view-unavailable.ts';
import { isServiceUnknown } from '../command/service-engines.ts';

/** Time limit for counting the objects of the store; those of a large store are counted only in part. */
const COUNTING_TIME_MS = 1500;

type AskServer = () => ReturnType<typeof askLogServer>;

export type StatusFacts = Awaited<ReturnType<typeof statusFacts>>;

/**
 * Returns everything that `status` shows. Lags are counted up to 1,000 events. `openStore` and `askServer` are called for
 * each look. They may reject while the engine is unavailable, the store also while it is damaged or missing. Without the
 * log, what is read from it is `null`.
 */
export async function statusFacts(
  config: Config,
  log: EventLog,
  openStore: () => Promise<Pick<ObjectStore, 'list'>>,
  askServer: AskServer,
) {
  const [{ state, silence }, found] = await Promise.all([asked(config), logFacts(config, log, askServer)]);
  const views = new StoredViews(config);
  const at = clock.date().toISOString(); // the counts are of this time
  const [{ parked, ...fromLog }, objects, disk] = await Promise.all([
    readFacts(config, views, { log: found.note === null ? log : undefined, state }).then(
      (read) => ({ log: found, ...read }),
      async (error: unknown) => ({
        log: unavailableLog(config, error),
        ...(await readFacts(config, views, { log: undefined, state })),
      }),
    ),
    objectFacts(openStore),
    files.statfs(config.dataDir),
  ]);
  return {
    at,
    service: state ? serviceFacts(state) : null,
    /** Why the state of a service that should run is unknown. */
    silence,
    ...fromLog,
    /** `null` on a node without views, while they are filled for the first time, or with a corrupt one. */
    deposits: views.read(depositStatus.name, (view) => depositsIn(view, config.stuckAfter)) ?? null,
    notifications: notificationFacts(views, state),
    sweep: state?.sweep ?? null,
    /** One sentence per view; what depends on these views is `null` here. */
    damagedViews: [...views.faults],
    parked,
    store: { engine: config.archiveStore.kind, note: durabilityNote(config), ...objects },
    diskFreeBytes: disk.bavail * disk.bsize,
    /** Times of the last complete backup, and of the last `verify --all` without a finding, on this node. */
    lastBackup: lastSuccess(config.dataDir, 'backup'),
    lastVerification: lastSuccess(config.dataDir, 'verification'),
  };
}

async function asked({ dataDir }: Config): Promise<{ state: NodeState | undefined; silence: string | null }> {
  try {
    const service = await ControlClient.find(dataDir);
    return { state: await service?.stateWhenFound(), silence: null };
  } catch (error) {
    if (!isServiceUnknown(error) && !(error instanceof NotPermitted)) throw error;
    return { state: undefined, silence: error.message };
  }
}

async function logFacts({ eventLog }: Config, log: EventLog, askServer: AskServer) {
  const engine = eventLog.kind;
  try {
    const position = (await log.head()) ?? null;
    const server = await askServer();
    const known = server ? { version: server.version, warning: server.warning ?? null } : null;
    return { engine, position, server: known, note: null };
  } catch (error) {
    return unavailableLog({ eventLog }, error);
  }
}

function unavailableLog({ eventLog }: Pick<Config, 'eventLog'>, error: unknown) {
  if (!(error instanceof EventLogUnavailable)) throw error;
  const note = `${logIdentity(eventLog)}: ${error.message}`;
  return { engine: eventLog.kind, position: null, server: null, note };
}

type Reading = { readonly log: EventLog | undefined; readonly state: NodeState | undefined };

/** Returns what is read from the log. */
async function readFacts(config: Config, views: StoredViews, { log, state }: Reading) {
  const [reactors, parked, shown] = await Promise.all([
    reactorFacts(config, log, state),
    log && Promise.all(ALL_REACTORS.map((reactor) => parkedEvents(log, reactor))),
    Promise.all(viewsOf(state).map(({ name, source }) => viewFacts(views, log, name, source.prefix, state))),
  ]);
  return { views: shown, reactors, parked: parked?.flat() ?? null };
}

/** Returns the views of the running node or, without one, all that a node may have. */
function viewsOf(state: NodeState | undefined): typeof everyView {
  return state ? everyView.filter(({ name }) => state.views.some((view) => view.name === name)) : everyView;
}

function serviceFacts({ version, pid, url, roles, startedAt, following, problems = [] }: NodeState) {
  return { version, pid, url, roles, startedAt, following, problems };
}

async function viewFacts(
  views: StoredViews,
  log: EventLog | undefined,
  name: string,
  prefix: string,
  state?: NodeState,
) {
  const shown = state?.views.find((view) => view.name === name);
  const position = (state ? shown?.position : views.read(name, (view) => view.position)) ?? null;
  const lag = log && (await lagAfter(log, position ?? undefined, prefix));
  return { name, position, ...lagOf(lag?.count, lag?.oldest), done: shown?.events ?? null };
}

async function reactorFacts(config: Config, log: EventLog | undefined, state?: NodeState) {
  if (state && state.reactors.length > 0)
    return state.reactors.map(({ delivery, ...standing }) => ({ ...standing, ...deliveryFacts(delivery) }));
  const deliveries = log && (await openDeliveries(config, log, { receivers: [], readOnly: true }));
  const facts = DEPOSIT_REACTORS.map(async (name) => ({
    name,
    underWay: 0,
    done: null,
    failures: null,
    lastError: null,
    ...deliveryFacts(await deliveries?.status(name, deposits.prefix)),
  }));
  try {
    return await Promise.all(facts);
  } finally {
    await deliveries?.[Symbol.asyncDispose]?.();
  }
}

/** Without a delivery: the log does not answer. */
function deliveryFacts(delivery: GroupStatus | null | undefined) {
  return { position: delivery?.position ?? null, ...lagOf(delivery?.waiting, delivery?.oldest) };
}

function depositsIn(view: StoredView, stuckAfter: number) {
  if (!view.isCounted()) return null;
  const stuck = countStuck(view, new Date(clock.now() - stuckAfter).toISOString());
  const oldest = UNFINISHED.flatMap((status) => {
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

/** Counts the deposits with waiting notifications, on any node, and the notifications of this node. */
function notificationFacts(views: StoredViews, state?: NodeState) {
  if (state?.notifications) {
    const { waiting, taken, failed, tooOld, keyProblem } = state.notifications;
    return { waiting, taken, failed, tooOld, keyProblem };
  }
  const counts = views.read(undeliveredNotifications.name, (view) => view.isCounted() && view.counts());
  if (!counts) return null;
  let waiting = 0;
  for (const [client, count] of counts) if (client !== '') waiting += count;
  return { waiting, taken: null, failed: null, tooOld: null, keyProblem: null };
}

/** Returns `null` if an acknowledged write survives a power cut. */
function durabilityNote({ archiveStore, s3Durable }: Config): string | null {
  if (archiveStore.kind === 'file' || s3Durable) return null;
  const value = s3Durable === null ? 'not set' : 'false';
  return `DEPOSIT_S3_DURABLE is ${value}: a power cut may lose objects that the store has acknowledged.`;
}

async function objectFacts(openStore: () => Promise<Pick<ObjectStore, 'list'>>) {
  const until = clock.monotonic() + COUNTING_TIME_MS;
  let [objects, bytes] = [0, 0];
  try {
    const store = await openStore();
    for await (const { length } of store.list()) {
      objects += 1;
      bytes += length;
      if (clock.monotonic() > until) return { objects, bytes, isWhole: false };
    }
    return { objects, bytes, isWhole: true };
  } catch (error) {
    if (!isStoreFault(error)) throw error;
    return { objects: null, bytes: null, isWhole: false, note: error.message };
  }
}

/** Whether only the objects cannot be counted, so that everything else is shown. */
function isStoreFault(error: unknown): error is Error {
  const faults = [ObjectStoreUnavailable, StoreFormatUnknown, BackendNotFound, NotPermitted];
  return [...faults, ForeignJournal, WalNotReadable].some((kind) => error instanceof kind);
}

class StoredViews {
  readonly #config: Config;
  readonly faults = new Set<string>();

  constructor(config: Config) {
    this.#config = config;
  }

  /** Returns `undefined` if the view is missing or corrupt; `faults` lists the corrupt ones. */
  read<Found>(name: string, read: (view: StoredView) => Found): Found | undefined {
    try {
      using view = this.#open(name);
      return view && read(view);
    } catch (error) {
      if (!(error instanceof ViewUnavailable)) throw error;
      this.faults.add(error.message);
      return undefined;
    }
  }

  #open(name: string): StoredView | undefined {
    try {
      return openView(this.#config, { name });
    } catch (error) {
      if (error instanceof ViewUnavailable) throw error;
      return undefined;
    }
  }
}

/** `null`: it could not be counted, or not in time. */
function lagOf(events: number | undefined, oldest: string | undefined) {
  if (events === undefined) return { lagEvents: null, lagSeconds: null };
  return { lagEvents: events, lagSeconds: ageOf(oldest) };
}

function ageOf(time: string | undefined): number {
  return time === undefined ? 0 : Math.max(0, Math.round((clock.now() - Date.parse(time)) / 100) / 10);
}
