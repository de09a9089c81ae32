import { setTimeout as pause } from 'node:timers/promises';
import { helloZip } from '../../../testing/http/deposit-bodies.ts';
import type { Undelivered } from '../expected.ts';
import { type Depositor, entryOf } from './depositor.ts';
import { NOTIFIED } from './people.ts';
import type { Receivers } from './receivers.ts';
import type { Site } from './site.ts';

type Notified = Record<(typeof NOTIFIED)[number], Depositor>;

/**
 * Leaves notifications in every state: accepted, held, given up, and claimed by a node that is killed while its
 * receiver does not answer. Resolves after that kill.
 */
export async function holdNotifications(site: Site, receivers: Receivers, clients: Notified): Promise<void> {
  const { bob, carol, dave, erin, frank } = clients;
  const accepted = await bob.whole('notified', helloZip);
  await bob.reached(accepted, 'done');
  const early = await carol.whole('carol-accepted', helloZip, entryOf('Early'));
  await untilAccepted(receivers, 'carol', early);
  for (const client of ['carol', 'dave', 'erin', 'frank']) receivers.of(client).manners = () => 500;
  const held = await carol.whole('held', helloZip);
  const partly = await carol.whole('held-partial', helloZip, entryOf('Partial'), { isPartial: true });
  await untilUndelivered(site, 'carol', held, ({ waiting }) => waiting.length === 5);
  await untilUndelivered(site, 'carol', partly, ({ waiting }) => waiting.length === 1);
  await giveUpSome(site, erin);
  const ofFrank = await frank.whole('held-disabled', helloZip);
  await untilUndelivered(site, 'frank', ofFrank, ({ waiting }) => waiting.length === 5);
  const claimed = await dave.whole('claimed-notification', helloZip);
  await untilUndelivered(site, 'dave', claimed, ({ waiting }) => waiting.length === 5);
  const receiver = receivers.of('dave');
  const before = receiver.received.length;
  receiver.manners = () => 'silent';
  while (receiver.received.length === before) await pause(20);
  await site.kill();
}

/** Revokes the collection while notifications wait, which has them given up, and grants it again. */
async function giveUpSome(site: Site, erin: Depositor): Promise<void> {
  const ids: number[] = [];
  for (const label of ['given-up', 'requeued'])
    ids.push(await erin.whole(label, helloZip, entryOf(label), { collection: 'drafts' }));
  for (const id of ids) await untilUndelivered(site, 'erin', id, ({ waiting }) => waiting.length === 5);
  await site.run('client', ['revoke', 'erin', 'drafts']);
  for (const id of ids) await untilUndelivered(site, 'erin', id, ({ givenUp }) => givenUp.length === 5);
  await site.run('client', ['grant', 'erin', 'drafts']);
}

async function untilAccepted(receivers: Receivers, client: string, depositId: number): Promise<void> {
  const { taken } = receivers.of(client);
  while (!taken.some(({ deposit, status }) => deposit === depositId && status === 'done')) await pause(20);
}

async function untilUndelivered(
  site: Site,
  client: string,
  depositId: number,
  isSo: (found: Undelivered) => boolean,
): Promise<void> {
  for (;;) {
    const found = (await undeliveredOf(site, client)).find((one) => one.depositId === depositId);
    if (found && isSo(found)) return;
    await pause(100);
  }
}

type Listed = {
  readonly depositId: number;
  readonly held: readonly { readonly revision: number }[];
  readonly givenUp: readonly { readonly revision: number }[];
};

/** Resolves to what `client webhook NAME --failures` lists. */
export async function undeliveredOf(site: Site, client: string): Promise<readonly Undelivered[]> {
  const listed = JSON.parse(
    await site.run('client', ['webhook', client, '--failures', '--json']),
  ) as readonly Listed[];
  const revisions = (list: Listed['held']) => list.map(({ revision }) => revision);
  return listed.map(({ depositId, held, givenUp }) => {
    return { client, depositId, waiting: revisions(held), givenUp: revisions(givenUp) };
  });
}
