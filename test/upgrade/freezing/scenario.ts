import type { Expected, FrozenDeposit } from '../expected.ts';
import type { Claims } from './claims.ts';
import { Depositor } from './depositor.ts';
import { holdNotifications, undeliveredOf } from './held-notifications.ts';
import { parkEvents } from './parked-events.ts';
import { CLIENTS, registerClients } from './people.ts';
import type { Receivers } from './receivers.ts';
import { KEY, makeSettled } from './settled-deposits.ts';
import type { Site } from './site.ts';
import { leaveUnfinished } from './unfinished-deposits.ts';
import { type LeftUpload, leaveUploads } from './uploads-left.ts';

export type Played = Pick<Expected, 'skipped' | 'retried' | 'keyed'> & {
  readonly deposits: readonly FrozenDeposit[];
  readonly uploads: readonly LeftUpload[];
};

/** Makes all data of a site, in several lives of its services. Nothing runs on it when this resolves. */
export async function play(site: Site, receivers: Receivers, claims: Claims): Promise<Played> {
  const deposits: FrozenDeposit[] = [];
  const clients = Object.fromEntries(
    Object.keys(CLIENTS).map((name) => [name, new Depositor(site, name, deposits)]),
  ) as Record<keyof typeof CLIENTS, Depositor>;
  const { alice, bob, heidi } = clients;
  const depositOf = (label: string): number => {
    const found = deposits.find((deposit) => deposit.label === label);
    if (!found) throw new Error(`There is no deposit ${label}.`);
    return found.depositId;
  };

  await site.start('everything');
  await registerClients(site, receivers);
  await makeSettled(site, alice, heidi);
  await site.run('anchor', []);
  await site.stop();

  await site.start('http only');
  const { skipped, retried } = await parkEvents(site, alice, bob);
  await site.stop();

  await site.start('everything');
  await site.run('retry', [String(depositOf('reloaded'))]);
  await bob.reached(depositOf('parked-notifier'), 'done');
  while ((await alice.status(depositOf('reloaded'))).deposit_status !== 'done');
  await holdNotifications(site, receivers, clients);

  await site.start('http only');
  await leaveUnfinished(site, clients, { depositOf, retried });
  const uploads = await leaveUploads(site, alice, claims);
  await site.run('anchor', []);
  await requeue(site, depositOf('requeued'));
  return { deposits, uploads, skipped, retried, keyed: { depositId: depositOf('keyed'), key: KEY } };
}

/** Requeues notifications that were given up, while no service runs. */
async function requeue(site: Site, depositId: number): Promise<void> {
  await site.run('client', ['webhook', 'erin', '--retry', String(depositId)]);
  const found = await undeliveredOf(site, 'erin');
  if (found.length !== 2) throw new Error(`Notifications of ${found.length} deposits of erin wait.`);
}
