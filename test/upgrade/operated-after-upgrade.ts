import type { ExecutionContext } from 'ava';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloZip,
} from '../../testing/http/deposit-bodies.ts';
import { jsonLines } from '../../testing/processes/run-script.ts';
import { settled } from './settled.ts';
import type { Context, Test } from './upgrade-contract.ts';
import { pathOf } from './upgraded-service.ts';

/** The entry of the frozen request with a key: a repeated request has the same bytes. */
const KEYED_ENTRY = entryXml(
  '<title>keyed</title><author><name>Ada Lovelace</name></author><codemeta:version>1.2</codemeta:version><codemeta:datePublished>2025-03-01</codemeta:datePublished>',
);

/** Tests the commands of operators and auditors, and a request that is repeated. */
export function testOperators(test: Test): void {
  test.serial('a request with an earlier Idempotency-Key gets the earlier deposit', async (t) => {
    const { upgraded } = t.context;
    const { depositId, key } = upgraded.expected.keyed;
    const form = formOf([archivePart(Buffer.from(helloZip), 'keyed.zip'), entryPart(KEYED_ENTRY)]);
    const headers = { ...formType, ...final, 'Idempotency-Key': key };
    const repeated = await upgraded.client('alice').post('/1/software/', form, headers);
    t.is(repeated.status, 201);
    t.is(/<deposit_id>(\d+)</.exec(await repeated.text())?.[1], String(depositId));
  });

  test.serial('parked events are listed, skipped ones are not', async (t) => {
    const { upgraded } = t.context;
    t.deepEqual(await parked(t), ids(upgraded.expected.parked));
    const { client, depositId } = upgraded.deposit('parked-notifier');
    t.is(upgraded.receivers.acceptedOf(client, depositId).length, 4, 'all but the parked one');
    for (const label of ['parked-checker', 'parked-loader', 'skipped-checker', 'skipped-loader']) {
      const deposit = upgraded.deposit(label);
      t.is((await upgraded.statusOf(deposit))['deposit_status'], deposit.frozen.status, label);
    }
  });

  test.serial("parked events are processed on an operator's command; skipped ones are not", async (t) => {
    const { upgraded } = t.context;
    const retried = await upgraded.run('parked', 'retry', '--all');
    t.is(retried.code, 0, retried.err);
    for (const label of ['parked-checker', 'parked-loader']) {
      await upgraded.client('alice').waitFor(`${pathOf(upgraded.deposit(label))}status/`, 'done');
    }
    const { client, depositId } = upgraded.deposit('parked-notifier');
    const revisions = () => upgraded.receivers.acceptedOf(client, depositId).map(({ revision }) => revision);
    await settled(() => revisions().length === 5);
    t.true(revisions().includes(3), 'the parked notification');
    t.deepEqual(await parked(t), []);
    for (const label of ['skipped-checker', 'skipped-loader']) {
      const deposit = upgraded.deposit(label);
      t.is((await upgraded.statusOf(deposit))['deposit_status'], deposit.frozen.status, label);
    }
  });

  test.serial('a failed deposit is loaded again, a rejected one is checked again', async (t) => {
    const { upgraded } = t.context;
    const [failed, rejected] = [upgraded.deposit('failed'), upgraded.deposit('rejected-archive')];
    t.is((await upgraded.run('retry', String(failed.depositId))).code, 0);
    t.is((await upgraded.run('retry', String(rejected.depositId), '--recheck')).code, 0);
    await upgraded.client('alice').waitFor(`${pathOf(failed)}status/`, 'done');
    const { log } = upgraded.service.service;
    const last = async () => (await Array.fromAsync(log.readStream(`deposit-${rejected.depositId}`))).at(-1);
    await settled(async () => (await last())?.type === 'DepositRejected');
    t.is((await last())?.data['attempt'], 2);
  });

  test.serial('everything is verified, also against the earlier anchors', async (t) => {
    t.timeout(120_000);
    const { upgraded } = t.context;
    const { fixture } = upgraded;
    const key = ['--key', fixture.fileOf('anchor-key.pem')];
    const anchors = ['--anchors', fixture.fileOf('anchors.ndjson')];
    const verified = await upgraded.run('verify', '--all', ...anchors, ...key);
    t.is(verified.code, 0, verified.out);
    t.is((await upgraded.run('anchor')).code, 0);
    t.is((await upgraded.run('verify', '--all')).code, 0);
  });

  test.serial('rebuilt views equal those in use', async (t) => {
    t.timeout(120_000);
    const { upgraded } = t.context;
    const checked = await upgraded.run('rebuild', '--all', '--check', '--json');
    t.is(checked.code, 0, checked.out + checked.err);
    const rebuilt = await upgraded.run('rebuild', '--all', '--json');
    t.is(rebuilt.code, 0, rebuilt.err);
    t.like(JSON.parse(rebuilt.out), { differences: 0, not_compared: [] });
    t.like(await upgraded.statusOf(upgraded.deposit('zip')), { deposit_status: 'done' });
  });
}

async function parked(t: ExecutionContext<Context>): Promise<readonly string[]> {
  const listed = await t.context.upgraded.run('parked', 'list', '--json');
  return jsonLines<{ reactor: string; event_id: string; stream: string }>(listed.out)
    .map(({ reactor, event_id, stream }) => `${reactor} ${stream} ${event_id}`)
    .toSorted();
}

type Parked = { readonly reactor: string; readonly eventId: string; readonly stream: string };

function ids(parked: readonly Parked[]): readonly string[] {
  return parked.map(({ reactor, eventId, stream }) => `${reactor} ${stream} ${eventId}`).toSorted();
}
