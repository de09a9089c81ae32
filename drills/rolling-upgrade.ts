import { setTimeout as pause } from 'node:timers/promises';
import type { EventLogConfig } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { EventStoreDbConnection } from '../src/event-log/eventstoredb/connection.ts';
import { groupInfo } from '../src/event-log/eventstoredb/consumer-groups/group.ts';
import { RECEIVERS } from '../src/reactors/reactor-names.ts';
import { OutageSite } from './engines/outage-site.ts';
import { type Finding, printProgress, runDrill, skipped, type Values } from './frame/drill.ts';
import { scratchFolder } from './service/drilled-service.ts';
import { unpackedMain } from './service/old-sources.ts';
import { HASTY_SERVICE_MAIN, SERVICE_MAIN } from './service/service-process.ts';

const HELP = `Two nodes for clients and two reactor nodes are upgraded under load, one by one, from the release of commit a4b3938 to
this one; that one's groups are deleted. Then they go back, one by one, and are upgraded again. Nodes of both
releases run together on one event log (the double of EventStoreDB) and one S3 server. Every deposit has to come to its
end and every notification to arrive; those sent again, and out of order by old nodes, are counted.

  node drills/rolling-upgrade.ts [--writers 2] [--pause 4] [--early]

--pause S  seconds of load between two nodes
--early    goes back before the groups of the older release are deleted
`;

const OLD = 'a4b3938';
/** The order in which nodes are replaced. */
const ORDER = [
  ['reactors', 0],
  ['http', 0],
  ['reactors', 1],
  ['http', 1],
] as const;
/** Time limit for the deletion of the old release's groups, in milliseconds. */
const DELETED_MS = 60_000;

const OPTIONS = {
  writers: { full: 2, short: 1 },
  pause: { full: 4, short: 1 },
  early: { type: 'boolean', default: false },
} as const;

await runDrill(HELP, OPTIONS, drill);

async function drill({ writers, pause: seconds, early }: Values<typeof OPTIONS>): Promise<Finding> {
  const between = seconds * 1000;
  await using folder = await scratchFolder('old-release');
  const old = await unpackedMain(OLD, folder.path);
  if (old === undefined) return skipped(`NOT RUN: commit ${OLD} is not in this clone`);
  await using site = await OutageSite.start({ name: 'rolling', main: old });
  const load = site.load(writers);
  await pause(between);
  const current = early ? SERVICE_MAIN : HASTY_SERVICE_MAIN;
  const codes = await replaceAll(site, current, between);
  if (!early) codes.push(await groupsDeleted(site));
  const upgraded = site.repeated;
  printProgress(`upgraded: ${site.acknowledged} deposits acknowledged, ${upgraded} notifications sent again`);
  codes.push(...(await replaceAll(site, old, between)));
  await pause(between);
  const back = site.repeated;
  printProgress(
    `one release back: ${site.acknowledged} deposits acknowledged, ${back} notifications sent again`,
  );
  codes.push(...(await replaceAll(site, current, between)));
  printProgress(`upgraded again: ${site.acknowledged} deposits acknowledged`);
  await pause(between);
  site.stopLoad();
  await load;
  const { broken, numbers } = await site.outcome({ mayDisorder: true });
  return {
    tried: `Four nodes were upgraded from commit ${OLD} one by one under ${writers} writers, went back one by one ${early ? 'before' : 'after'} the old groups had been deleted, and were upgraded again.`,
    held: `Every request was answered 201 or 503; each deposit was done, all ${numbers['notified']} notifications came, ${numbers['notifications repeated']} of them again, and those of ${numbers['deposits notified out of order']} deposits out of order.`,
    broken: [...codes.filter((fault) => fault !== undefined), ...broken],
    numbers: {
      'nodes replaced': 3 * ORDER.length,
      ...numbers,
      'repeated until upgraded': upgraded,
      'repeated until back': back,
    },
  };
}

/** Replaces one node after the other; a node for clients gets no requests meanwhile. Resolves to what went wrong. */
async function replaceAll(site: OutageSite, main: string, between: number): Promise<(string | undefined)[]> {
  const faults: (string | undefined)[] = [];
  for (const [role, index] of ORDER) {
    const { urls } = site.cluster;
    if (role === 'http') site.serve(urls.filter((_, number) => number !== index));
    const code = await site.cluster.replace(role, index, main);
    site.serve(site.cluster.urls);
    printProgress(`${role} node ${index + 1} of 2 runs ${main}`);
    if (code !== 0) faults.push(`A node ended with ${code} after SIGTERM.`);
    await pause(between);
  }
  return faults;
}

/** Waits until the new nodes have deleted the groups of the old release. */
async function groupsDeleted({ settings }: OutageSite): Promise<string | undefined> {
  const { eventLog } = readConfig(settings);
  await using connection = new EventStoreDbConnection(eventLog as EventLogConfig & { kind: 'eventstoredb' });
  const deadline = performance.now() + DELETED_MS;
  for (;;) {
    const found = await Promise.all(RECEIVERS.map((name) => groupInfo(connection, name)));
    const left = RECEIVERS.filter((_, index) => found[index] !== undefined);
    if (left.length === 0) return undefined;
    if (performance.now() > deadline)
      return `The groups ${left.join(', ')} of the old release are still there.`;
    await pause(500);
  }
}
