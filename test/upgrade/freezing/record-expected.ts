import { setTimeout as pause } from 'node:timers/promises';
import type { Expected, ParkedEvent, Undelivered } from '../expected.ts';
import { PASSWORD } from './depositor.ts';
import { undeliveredOf } from './held-notifications.ts';
import { acceptedBy, type Receivers } from './receivers.ts';
import { recordShown, recordUploads, untilFinished } from './record-shown.ts';
import type { Played } from './scenario.ts';
import { BASE_URL, type Site } from './site.ts';

/** Milliseconds in which no more notifications come. */
const QUIET = 3000;

/**
 * Records what the old release shows of the data as it was frozen, then has it finish all work that is open, and records
 * what it shows afterwards. That changes the data of the site, so it has to be frozen before.
 */
export async function recordExpected(site: Site, receivers: Receivers, played: Played): Promise<Expected> {
  const { deposits, uploads, ...others } = played;
  const frozenAt = new Date().toISOString();
  await site.start('http only');
  const frozen = await recordShown(site, deposits);
  const shownUploads = await recordUploads(site, uploads);
  const parked = JSON.parse(await site.run('parked', ['list', '--json'])) as readonly ParkedEvent[];
  const undelivered = await allUndelivered(site, receivers);
  await site.stop();

  const before = new Map(receivers.clients.map((client) => [client, receivers.of(client).taken.length]));
  receivers.acceptAll();
  await site.start('everything');
  const left = [...parked, ...others.skipped].filter(({ reactor }) => reactor !== 'notifier');
  await untilFinished(site, new Set(left.map(({ stream }) => Number(stream.slice('deposit-'.length)))));
  await untilDelivered(site, receivers);
  const finished = await recordShown(site, deposits);
  await site.stop();

  return {
    commit: site.release.commit,
    frozenAt,
    baseUrl: BASE_URL,
    password: PASSWORD,
    webhookSecret: receivers.of('bob').secret,
    ...others,
    deposits: deposits.map((deposit) => ({
      ...deposit,
      frozen: found(frozen.get(deposit.depositId)),
      finished: found(finished.get(deposit.depositId)),
    })),
    parked: parked.map(({ reactor, eventId, stream, revision }) => ({ reactor, eventId, stream, revision })),
    uploads: shownUploads,
    receivers: receivers.clients.map((client) => {
      const receiver = receivers.of(client);
      const count = before.get(client) ?? 0;
      const accepted = acceptedBy(receiver).slice(0, count);
      return { client, ...receivers.placeOf(client), accepted, deliveredLater: acceptedBy(receiver, count) };
    }),
    undelivered,
  };
}

async function allUndelivered(site: Site, receivers: Receivers): Promise<readonly Undelivered[]> {
  return (await Promise.all(receivers.clients.map((client) => undeliveredOf(site, client)))).flat();
}

async function untilDelivered(site: Site, receivers: Receivers): Promise<void> {
  const count = () => receivers.clients.reduce((sum, client) => sum + receivers.of(client).taken.length, 0);
  for (;;) {
    const before = count();
    await pause(QUIET);
    const waiting = (await allUndelivered(site, receivers)).some((one) => one.waiting.length > 0);
    if (!waiting && count() === before) return;
  }
}

function found<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('A deposit is missing.');
  return value;
}
