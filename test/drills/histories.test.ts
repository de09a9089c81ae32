import http from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { TcpFaultProxy } from '../../drills/engines/tcp-fault-proxy.ts';
import { type Operation, outcomeOf } from '../../drills/histories/operation.ts';
import { RecordedRequests } from '../../drills/histories/recorded-requests.ts';
import { SharedDeposits } from '../../drills/histories/shared-deposits.ts';
import { RunningService } from '../../testing/service/running-service.ts';

/** Longer than any answer takes, if the answer matters. */
const LONG_MS = 30_000;

test('an operation records revision, status and content marks from its response', async (t) => {
  const { requests, target } = await depositing(t);
  const created = await requests.send({ kind: 'create', archive: 'a1', entry: 'e1' }, target, 3);
  const deposit = created.shown?.deposit as number;
  const added = await requests.send({ kind: 'add', deposit, archive: 'a2' }, target, 3);
  const replaced = await requests.send({ kind: 'replace', deposit, entry: 'e2', ifMatch: 3 }, target, 3);
  const read = await requests.send({ kind: 'receipt', deposit }, target, 3);
  const completed = await requests.send({ kind: 'complete', deposit }, target, 3);

  t.like(created, { client: 3, node: 'http-1', code: 201 });
  t.deepEqual(created.shown, { deposit, revision: 2, status: 'partial', archives: ['a1'], entries: ['e1'] });
  t.deepEqual(added.shown?.archives, ['a1', 'a2']);
  t.deepEqual(replaced.shown, { revision: 4 });
  t.deepEqual(read.shown, {
    deposit,
    revision: 4,
    status: 'partial',
    archives: ['a1', 'a2'],
    entries: ['e2'],
  });
  t.is(completed.code, 200);
  t.deepEqual(requests.operations, [created, added, replaced, read, completed]);
  t.true(requests.operations.every(({ call, return: end }) => call < end));
  t.deepEqual(requests.faults, []);
});

test('a refusal for the state of a deposit is an outcome, any other one a fault', async (t) => {
  const { requests, target } = await depositing(t);
  const { shown } = await requests.send({ kind: 'create', archive: 'a1' }, target, 0);
  const deposit = shown?.deposit as number;
  const refused = [
    await requests.send({ kind: 'add', deposit, archive: 'a2', ifMatch: 7 }, target, 0),
    await requests.send({ kind: 'status', deposit: deposit + 1 }, target, 0),
    await requests.send({ kind: 'delete', deposit }, target, 0),
    await requests.send({ kind: 'complete', deposit }, target, 0),
  ];
  t.deepEqual(
    refused.map(({ code }) => code),
    [412, 404, 204, 404],
  );
  t.deepEqual(refused.map(outcomeOf), ['refused', 'refused', 'done', 'refused']);
  t.deepEqual(requests.faults, []);

  await requests.send({ kind: 'create', archive: 'a3', key: 'k' }, target, 0);
  await requests.send({ kind: 'create', archive: 'a4', key: 'k' }, target, 0);
  t.regex(requests.faults.join(), /^create was answered 409 at http-1: /);
});

test('a request repeated with its key gets the same deposit', async (t) => {
  const { requests, target } = await depositing(t);
  const invocation = { kind: 'create', archive: 'a1', entry: 'e1', key: 'k' } as const;
  const [first, second] = [
    await requests.send(invocation, target, 0),
    await requests.send(invocation, target, 1),
  ];
  t.deepEqual(second.shown, first.shown);
});

test('the outcome of a request without a response, or with 503, is unknown', async (t) => {
  await using connection = await TcpFaultProxy.to(await answering(t, 503, '{}'));
  const target = { name: 'http-1', url: `http://127.0.0.1:${connection.port}` };
  const requests = requestsWithin(LONG_MS);
  const unavailable = await requests.send({ kind: 'complete', deposit: 1 }, target, 0);
  await connection.inject('reset');
  const cut = await requests.send({ kind: 'complete', deposit: 1 }, target, 0);
  await connection.inject('silent');
  const unanswered = await requestsWithin(200).send({ kind: 'complete', deposit: 1 }, target, 0);
  t.deepEqual(
    [unavailable, cut, unanswered].map(({ code }) => code),
    [503, 0, 0],
  );
  t.deepEqual([unavailable, cut, unanswered].map(outcomeOf), ['unknown', 'unknown', 'unknown']);
  t.deepEqual(requests.faults, []);
});

test('a receipt without an ETag reveals nothing about the entries', async (t) => {
  const receipt = { deposit_id: 1, deposit_status: 'partial', archives: [], dcterms: [] };
  const target = {
    name: 'http-1',
    url: `http://127.0.0.1:${await answering(t, 200, JSON.stringify(receipt))}`,
  };
  const { shown } = await requestsWithin(LONG_MS).send({ kind: 'receipt', deposit: 1 }, target, 0);
  t.deepEqual(shown, { deposit: 1, status: 'partial', archives: [] });
});

test('data sent on a silent connection arrive when the silence ends', async (t) => {
  await using connection = await TcpFaultProxy.to(await answering(t, 503, '{}'));
  const target = { name: 'http-1', url: `http://127.0.0.1:${connection.port}` };
  await connection.inject('silent');
  const held = requestsWithin(LONG_MS).send({ kind: 'complete', deposit: 1 }, target, 0);
  await connection.inject('none');
  t.is((await held).code, 503);
});

test('clients avoid a deposit with too many operations of unknown outcome', (t) => {
  const deposits = new SharedDeposits();
  const lost = { kind: 'add', deposit: 1, client: 0, node: 'http-1', call: 1, return: 2, code: 0 } as const;
  deposits.note({ ...lost, kind: 'create', code: 201 });
  for (let lostWrites = 0; deposits.pick(() => 0) !== undefined; lostWrites += 1) {
    t.true(lostWrites < 20);
    deposits.note(lost);
  }
  const reads: Operation[] = Array.from({ length: 20 }, () => ({ ...lost, deposit: 2, kind: 'status' }));
  for (const read of reads) deposits.note(read);
  t.is(deposits.pick(() => 0)?.id, 2);
});

async function depositing(t: ExecutionContext) {
  const server = await RunningService.start();
  t.teardown(() => server[Symbol.asyncDispose]());
  await server.register('drill', { collections: ['drill'] });
  return { requests: requestsWithin(LONG_MS), target: { name: 'http-1', url: server.url } };
}

function requestsWithin(timeLimit: number): RecordedRequests {
  const authorization = `Basic ${Buffer.from('drill:secret').toString('base64')}`;
  return new RecordedRequests({ authorization, collection: 'drill', timeLimit });
}

/** Resolves to the port of a server that gives every request the same answer. */
async function answering(t: ExecutionContext, code: number, body: string): Promise<number> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(code, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port; // it listens on TCP
}
