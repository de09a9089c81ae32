import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { Unreachable } from '../../client/faults.ts';
import { bytesBody } from '../../client/http/bodies.ts';
import { Connection } from '../../client/http/connection.ts';
import { Lost } from '../../client/http/exchange.ts';
import { type TimeLimits, timeLimits } from '../../client/http/retries.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { listening } from './listening-server.ts';

const tricks: Record<string, (response: ServerResponse) => void> = {
  'says nothing': () => undefined,
  'sends something for ever': (response) => often(response, () => response.writeProcessing()),
  'gives its document by the byte': (response) => often(response, () => response.write(' ')),
};
for (const [trick, answer] of Object.entries(tricks)) {
  test(`a server that ${trick} is abandoned at the timeout`, async (t) => {
    await using server = await listening((request, response) => {
      if (request.url === '/first') response.end();
      else answer(response);
    });
    const connection = impatient(server.url);
    await connection.get(`${server.url}/first`);
    const get = () => connection.get(`${server.url}/`);
    await t.throwsAsync(get, { instanceOf: Unreachable, message: /no complete response within/ });
    const headers = { 'Content-Type': 'text/plain' };
    const body = bytesBody(Buffer.alloc(100_000));
    const post = () => connection.write('POST', `${server.url}/`, { headers, body, repeatable: false });
    await t.throwsAsync(post, { instanceOf: Unreachable });
  });
}

test('a request to a name none of whose addresses accepts a connection was not delivered', (t) => {
  t.like(new Lost(new AggregateError([]), true), { connected: false, delivered: false });
});

test('a request without a response is retried until the timeout', async (t) => {
  let asked = 0;
  await using server = await listening((_request, response) => {
    if ((asked += 1) !== 2) response.end(); // the second one never answers
  });
  const connection = impatient(server.url);
  await connection.get(`${server.url}/`);
  t.is((await connection.get(`${server.url}/`)).status, 200);
  t.is(asked, 3);
});

test('a server that resets each connection over http is abandoned soon, as it may expect https', async (t) => {
  let asked = 0;
  let resets = Infinity;
  await using server = await listening((request, response) => {
    if ((asked += 1) > resets) response.end();
    else request.socket.resetAndDestroy();
  });
  const message = /cannot be reached: (socket hang up|read ECONNRESET); perhaps it speaks https\.$/;
  const get = () => impatient(server.url).get(`${server.url}/`);
  await t.throwsAsync(get, { instanceOf: Unreachable, message });
  t.is(asked, 4);
  resets = asked + 3;
  t.is((await get()).status, 200);
});

test('a server that is not ready is asked again, after growing pauses, until the timeout', async (t) => {
  let asked = 0;
  await using server = await listening((_request, response) => {
    asked += 1;
    response.writeHead(503).end();
  });
  const pauses: number[] = [];
  let now = 0;
  const sleep = async (ms: number) => {
    pauses.push(ms);
    now += ms;
  };
  const world = { clock: { ...CLOCK_OF_NODE, monotonic: () => now, sleep }, random: HALFWAY };
  const limits = { ...timeLimits(10), firstPause: 1000, longestPause: 3000 };
  const answer = await runInWorld(world, () =>
    connectionTo(server.url, limits).ask('GET', `${server.url}/`, { repeatable: true }),
  );
  t.is(answer.status, 503);
  t.deepEqual(pauses, [1000, 2000, 3000, 3000]);
  t.is(asked, 5, 'a pause more would exceed the 10 s');
});

test('a request whose Expect a proxy refuses is repeated without it, and later ones have none', async (t) => {
  const expected: (string | undefined)[] = [];
  let got = 0;
  await using server = await listening(
    (request, response) => {
      expected.push(request.headers.expect);
      request.on('data', (piece: Buffer) => (got += piece.length)).once('end', () => response.end());
    },
    (request, response) => {
      expected.push(request.headers.expect);
      response.writeHead(417, { Connection: 'close' }).end();
    },
  );
  const connection = impatient(server.url);
  const body = bytesBody(Buffer.alloc(100_000));
  for (let times = 0; times < 2; times += 1) {
    const { status } = await connection.write('POST', `${server.url}/`, { body, repeatable: false });
    t.is(status, 200);
  }
  t.deepEqual(expected, ['100-continue', undefined, undefined]);
  t.is(got, 200_000);
});

test('a transfer that progresses has no time limit', async (t) => {
  await using server = await listening((request, response) => {
    if (request.method === 'POST') request.resume().once('end', () => response.end());
    else often(response, (times) => (times > 10 ? response.end() : response.write('.')));
  });
  const connection = impatient(server.url, { total: 1500, silence: 1500, silenceOfReads: 1500 }); // each takes 2 s
  let taken = '';
  await connection.download(`${server.url}/`, {
    take: async (message, onPiece) => {
      for await (const piece of message as AsyncIterable<Buffer>) {
        taken += piece.toString();
        onPiece(true);
      }
    },
  });
  t.is(taken, '.'.repeat(10));
  async function* pieces() {
    for (let count = 0; count < 10; count += 1) {
      await pause(200);
      yield Buffer.from('.');
    }
  }
  const body = { length: 10, pieces };
  const sent = await connection.write('POST', `${server.url}/`, { body, repeatable: false });
  t.is(sent.status, 200);
});

/** Randomness by which pauses have their nominal length. */
const HALFWAY = { fraction: () => 0.5, uuid: randomUUID, bytes: randomBytes };

/** Returns a connection with a time limit of 4 s, or with other limits. */
function impatient(url: string, others: Partial<TimeLimits> = {}): Connection {
  return connectionTo(url, {
    total: 4000,
    silence: 4000,
    silenceOfReads: 3000,
    shortestTry: 100,
    firstPause: 10,
    longestPause: 10,
    ...others,
  });
}

function connectionTo(url: string, limits: TimeLimits): Connection {
  const login = { server: new URL(url), user: 'alice', password: 'secret' };
  return new Connection({ login, limits, note: () => undefined });
}

function often(response: ServerResponse, work: (times: number) => unknown): void {
  let times = 0;
  const timer = setInterval(() => work((times += 1)), 200);
  response.once('close', () => clearInterval(timer));
}
