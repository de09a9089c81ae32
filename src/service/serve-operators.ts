import { packageInfo } from '../config/package-info.ts';
import type { GroupStatus } from '../event-log/consumer-groups/deliveries.ts';
import type { Position } from '../event-log/event-log.ts';
import type { OperatorRoute } from '../http/http-module.ts';
import { problemsOf, type ReadinessChecks } from '../http/middleware/health.ts';
import { clock } from '../tools/clock.ts';
import { withTimeout } from '../tools/concurrency/with-timeout.ts';
import { enginePlaces } from './backends/engine-places.ts';
import { CONFIRM_TIMEOUT_MS } from './nodes/confirmations.ts';
import type { NodeResources } from './open-node.ts';
import { identityOf } from './operator-port/directory-id.ts';
import type { NodeState } from './operator-port/node-state.ts';
import { OperatorServer } from './operator-port/operator-server.ts';
import type { startReactors } from './start-reactors.ts';

/** The parts of a node that depend on its roles. */
type Parts = {
  readonly reactors: ReturnType<typeof startReactors> | undefined;
  readonly readiness: ReadinessChecks;
  /** Commands of optional modules. */
  readonly moduleRoutes: Readonly<Record<string, OperatorRoute>>;
};

/** Time limit of the log for the status of reactors. Commands wait longer than that for this service. */
const STATUS_TIMEOUT_MS = 2000;

/**
 * Starts the operator port: commands ask for the state of this node and hand over rebuilt views, and metrics are
 * scraped.
 */
export async function serveOperators(node: NodeResources, url: string, parts: Parts): Promise<void> {
  const { config, logger, metrics, projector, resources } = node;
  const startedAt = clock.date().toISOString();
  const routes = {
    ...parts.moduleRoutes,
    'GET /state': async (): Promise<NodeState> => {
      return { ...about(node, url), startedAt, ...(await stateOf(node, parts)) };
    },
    'POST /applied': async (wanted: unknown) => {
      const { position } = wanted as { readonly position: Position };
      return { applied: await projector.passed(position, CONFIRM_TIMEOUT_MS) };
    },
    'POST /views': async (built: unknown) => {
      const { views: generation } = built as { readonly views: number }; // of this command, or refused below
      const ms = await projector.adopt(generation);
      logger.info({ generation, ms }, 'views switched');
      return { views: ms };
    },
  };
  const { operatorHost: host, operatorPort: port, dataDir } = config;
  resources.use(
    await OperatorServer.listen({ host, port, dataDir, routes, metrics: () => metrics.exposition() }),
  );
}

function about({ config }: NodeResources, url: string) {
  const { roles, dataDir } = config;
  const dataFolder = identityOf(dataDir);
  return { ...packageInfo(), pid: process.pid, url, roles, engines: enginePlaces(config), dataFolder };
}

async function stateOf({ deliveries, projector }: NodeResources, { reactors, readiness }: Parts) {
  const failed = problemsOf(readiness);
  const runners = (reactors?.allRunners ?? []).map(async ({ status, streamPrefix }) => {
    return { ...status, delivery: await withStatusTimeout(deliveries.status(status.name, streamPrefix)) };
  });
  return {
    views: projector.reached,
    following: projector.lastError ?? null,
    problems: [...(await failed)].map(([check, reason]) => ({ check, reason })),
    notifications: reactors?.notifications?.status ?? null,
    sweep: reactors ? { begun: reactors.sweep.begun, unrecorded: reactors.sweep.unrecorded } : null,
    reactors: await Promise.all(runners),
  };
}

/**
 * Resolves to `null` if the log does not answer in time. The status is reported without it; otherwise commands would
 * assume that no service is running.
 */
async function withStatusTimeout(status: Promise<GroupStatus>): Promise<GroupStatus | null> {
  return (await withTimeout(status, STATUS_TIMEOUT_MS).catch(() => undefined)) ?? null;
}
