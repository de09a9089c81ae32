import { enginePlaces } from '../engines.ts';
import type { DeliveryStanding } from '../event-log/deliveries.ts';
import { inTime } from '../in-time.ts';
import { manifest } from '../manifest.ts';
import { identityOf } from '../operator/folder-identity.ts';
import { OperatorServer } from '../operator/operator-server.ts';
import { clock } from '../tools/clock.ts';
import { adoptViews } from './adopt-views.ts';
import type { Node } from './node.ts';
import type { startReactors } from './start-reactors.ts';

/** What a node does, as far as its roles go. */
type Parts = {
  readonly reactors: ReturnType<typeof startReactors> | undefined;
};

/** How long the log may take to tell how far reactors are, in milliseconds: commands wait longer for this service. */
const PATIENCE = 2000;

/** Where commands ask how this node is, hand it views that they have built, and metrics are scraped. */
export async function serveOperators(node: Node, url: string, parts: Parts): Promise<void> {
  const { config, logger, metrics, projector, resources } = node;
  const startedAt = clock.date().toISOString();
  const routes = {
    'GET /state': async () => ({ ...about(node, url), startedAt, ...(await stateOf(node, parts)) }),
    'POST /views': (generations: unknown) => adoptViews(projector, generations, logger),
  };
  const { operatorHost: host, operatorPort: port, dataDir } = config;
  const exposition = () => metrics.exposition();
  resources.use(await OperatorServer.listen({ host, port, dataDir, routes, metrics: exposition }));
}

function about({ config }: Node, url: string) {
  const { roles, dataDir } = config;
  const dataFolder = identityOf(dataDir);
  return { ...manifest(), pid: process.pid, url, roles, engines: enginePlaces(config), dataFolder };
}

async function stateOf({ deliveries, projector }: Node, { reactors }: Parts) {
  const running = reactors ? [...reactors.runners, reactors.notifications.runner] : [];
  const runners = running.map(async ({ standing, streamPrefix }) => {
    return { ...standing, delivery: await inPatience(deliveries.standing(standing.name, streamPrefix)) };
  });
  return {
    views: projector.reached,
    following: projector.trouble ?? null,
    notifications: reactors?.notifications.standing ?? null,
    sweep: reactors ? { begun: reactors.sweep.begun, unrecorded: reactors.sweep.unrecorded } : null,
    reactors: await Promise.all(runners),
  };
}

/** A log that does not tell is no reason to seem not to be there: commands would work on without this service. */
async function inPatience(telling: Promise<DeliveryStanding>): Promise<DeliveryStanding | null> {
  return (await inTime(telling, PATIENCE).catch(() => undefined)) ?? null;
}
