import { readdirSync, readlinkSync } from 'node:fs';
import { appendFile, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import { archiveHeaders, helloZip, partial } from '../../testing/http/deposit-bodies.ts';
import { RawConnection, requestHead } from '../../testing/http/raw-connection.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import type { RunningService } from '../../testing/service/running-service.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] }, bob: { collections: ['software'] } });

/** Far more than the buffers of two sockets hold. */
const BYTES = 12_000_000;
/** Enough to be files, and not rows of a table. */
const FILE_BYTES = 200_000;
const TAR = 'application/x-tar';

/** Resolves to the EM-IRI of a deposit with these archives, and their digests. */
async function deposited(client: TestClient, ...archives: readonly Buffer[]) {
  let [media, digests] = ['/1/software/', [] as string[]];
  for (const [index, archive] of archives.entries()) {
    const headers = { ...archiveHeaders(`${index}.tar`, TAR), ...partial };
    const answer = await client.post(media, archive, headers);
    const [, id] = /deposit_id>(\d+)</.exec(await answer.text()) ?? [];
    media = `/1/software/${id}/media/`;
  }
  const statement = await (await client.get(media.replace('media/', 'statement/'))).text();
  digests = [...statement.matchAll(/sha256>([0-9a-f]{64})</g)].map(([, digest]) => digest as string);
  return { media, digests };
}

/** Makes a deposit with the first of some tests that need it. */
function sharedDeposit(...archives: readonly Buffer[]): (client: TestClient) => ReturnType<typeof deposited> {
  let made: ReturnType<typeof deposited> | undefined;
  return (client) => (made ??= deposited(client, ...archives));
}

function archive(name: string, bytes = FILE_BYTES): Buffer {
  return tarOf([{ name, data: name.repeat(bytes) }]);
}

/** Returns the archives of this store that the process has open. */
function openFiles({ folder }: RunningService): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`);
      return file.startsWith(folder) && file.includes('/v1/sha256/') ? [file] : [];
    } catch {
      return []; // closed meanwhile
    }
  });
}

const two = sharedDeposit(archive('a', BYTES), archive('b', BYTES));
const single = sharedDeposit(archive('t', BYTES));

test.serial('a client that disconnects from a zip of several archives leaves no file open', async (t) => {
  const { service, alice } = t.context;
  const { media } = await two(alice);
  for (let turn = 0; turn < 5; turn += 1) {
    const hangUp = new AbortController();
    const answer = await alice.send('GET', media, { signal: hangUp.signal });
    await answer.body?.getReader().read();
    await until(async () => openFiles(service).length > 0); // it is being sent
    hangUp.abort();
  }
  await until(async () => openFiles(service).length === 0);
  const whole = await (await alice.get(media)).arrayBuffer();
  t.true(whole.byteLength > 2 * BYTES);
});

test.serial('a corrupt archive aborts the download of a zip of several archives', async (t) => {
  const { service, alice } = t.context;
  const { media, digests } = await two(alice);
  const [, altered = ''] = digests;
  const place = [altered.slice(0, 2), altered.slice(2, 4), altered];
  {
    await using file = await open(path.join(service.folder, 'archives', 'v1', 'sha256', ...place), 'r+');
    await file.write('x', BYTES - 1);
  }
  const answer = await alice.get(media);
  t.is(answer.status, 200, 'the first archive is complete');
  await t.throwsAsync(answer.arrayBuffer());
  using old = await RawConnection.to(service.url);
  await old.send(requestHead(`GET ${media}`, alice).replace('HTTP/1.1', 'HTTP/1.0'));
  await old.untilEnded();
  t.regex(old.text, /^HTTP\/1\.1 200 /);
  t.is(old.error, 'ECONNRESET', 'if the end of the connection ends the response');
  await until(async () => openFiles(service).length === 0);
});

test.serial(
  'an archive known to be corrupt before its first byte is sent gets an error response',
  async (t) => {
    const { service, alice } = t.context;
    const created = await alice.post('/1/software/', helloZip, {
      ...archiveHeaders(),
      ...partial,
    });
    const [, id] = /deposit_id>(\d+)</.exec(await created.text()) ?? [];
    {
      using rows = new DatabaseSync(path.join(service.folder, 'archives', 'small.sqlite'));
      rows.exec("UPDATE small_object SET bytes = x'5858'");
    }
    const answer = await alice.get(`/1/software/${id}/media/`);
    t.is(answer.headers.get('content-digest'), null);
    await assertSwordError(t, answer, 500, 'InternalError');
  },
);

test.serial('an archive longer than recorded gets an error response, alone and in a zip', async (t) => {
  const { service, alice } = t.context;
  const { media, digests } = await deposited(alice, archive('e'), archive('f'));
  const [longer = ''] = digests;
  const place = [longer.slice(0, 2), longer.slice(2, 4), longer];
  await appendFile(
    path.join(service.folder, 'archives', 'v1', 'sha256', ...place),
    'HTTP/1.1 200 OK\r\n\r\n',
  );
  await assertSwordError(t, await alice.get(`${media}1/`), 500, 'InternalError');
  await assertSwordError(t, await alice.get(media), 500, 'InternalError');
  t.is((await alice.get(`${media}2/`)).status, 200);
});

test.serial('a missing archive gets an error response before the zip begins, also to HEAD', async (t) => {
  const { service, alice } = t.context;
  const { media, digests } = await deposited(alice, archive('g'), archive('h'));
  const [, missing = ''] = digests;
  const place = [missing.slice(0, 2), missing.slice(2, 4), missing];
  await rm(path.join(service.folder, 'archives', 'v1', 'sha256', ...place));
  await assertSwordError(t, await alice.get(media), 500, 'InternalError');
  for (const target of [media, `${media}2/`]) t.is((await alice.send('HEAD', target)).status, 500, target);
  t.is((await alice.send('HEAD', `${media}1/`)).status, 200);
});

test.serial(
  'a range of an archive has the right bytes, from a row and from a file, with the digest of the whole',
  async (t) => {
    const { alice } = t.context;
    for (const bytes of [2000, FILE_BYTES]) {
      const whole = archive('r', bytes);
      const { media } = await deposited(alice, whole);
      for (const target of [media, `${media}1/`]) {
        const first = await alice.get(target);
        t.is(first.headers.get('accept-ranges'), 'bytes');
        const [tag = '', digest = ''] = ['etag', 'repr-digest'].map((name) => first.headers.get(name) ?? '');
        t.notRegex(tag, /^W/);
        const end = whole.length - 1;
        for (const [range, from, to] of [
          ['bytes=0-0', 0, 0],
          ['bytes=0-', 0, end],
          [`bytes=700-${end + 9}`, 700, end],
          ['bytes=700-1699', 700, 1699],
          ['bytes=-5', end - 4, end],
          [`bytes=-${end + 9}`, 0, end],
          [`Bytes= ${end}-`, end, end],
        ] as const) {
          const answer = await alice.get(target, { Range: range, 'If-Range': tag });
          t.is(answer.status, 206, range);
          t.true(Buffer.from(await answer.arrayBuffer()).equals(whole.subarray(from, to + 1)), range);
          t.is(answer.headers.get('content-range'), `bytes ${from}-${to}/${whole.length}`);
          t.is(answer.headers.get('content-length'), String(to - from + 1));
          t.is(answer.headers.get('repr-digest'), digest);
          t.is(answer.headers.get('content-digest'), null);
          t.is(answer.headers.get('etag'), tag);
        }
        for (const headers of [
          { Range: 'bytes=5-', 'If-Range': '"1-99"' },
          { Range: 'bytes=5-', 'If-Range': `W/${tag}` },
          { Range: 'bytes=5-', 'If-Range': new Date().toUTCString() },
          { Range: 'bytes=1-2,4-5' },
          { Range: 'bytes=7-2' },
          { Range: 'lines=1-2' },
          { Range: 'bytes=-' },
        ] as Record<string, string>[]) {
          const answer = await alice.get(target, headers);
          t.is(answer.status, 200, JSON.stringify(headers));
          t.is((await answer.arrayBuffer()).byteLength, whole.length);
        }
        for (const range of [`bytes=${end + 1}-`, 'bytes=-0', `bytes=${'9'.repeat(400)}-`]) {
          const refused = await alice.get(target, { Range: range });
          t.is(refused.headers.get('content-range'), `bytes */${whole.length}`);
          await assertSwordError(t, refused, 416, 'RangeNotSatisfiable');
        }
        const head = await alice.send('HEAD', target, { headers: { Range: 'bytes=5-' } });
        t.deepEqual([head.status, head.headers.get('content-length')], [200, String(whole.length)]);
        const known = await alice.get(target, { Range: 'bytes=5-', 'If-None-Match': tag });
        t.is(known.status, 304);
      }
    }
  },
);

test.serial('a client that disconnects from a range download leaves no file open', async (t) => {
  const { service, alice } = t.context;
  const { media } = await single(alice);
  const hangUp = new AbortController();
  const answer = await alice.send('GET', media, { headers: { Range: 'bytes=10-' }, signal: hangUp.signal });
  await answer.body?.getReader().read();
  hangUp.abort();
  await until(async () => openFiles(service).length === 0);
  t.pass();
});

test.serial(
  'concurrent downloads per client are limited, and a finished one admits a resumed one',
  async (t) => {
    const { service, alice, bob } = t.context;
    const whole = archive('t', BYTES);
    const { media } = await single(alice);
    const other = await deposited(bob, archive('u'));
    const unread = Array.from({ length: 16 }, () => new AbortController());
    const started = performance.now();
    // Held: fetch cancels the body of an answer that is collected as garbage.
    const answers = await Promise.all(unread.map(({ signal }) => alice.send('GET', media, { signal })));
    t.is(openFiles(service).length, 16);
    let resumed = false;
    const resuming = alice.get(media, { Range: 'bytes=6000000-' }).then((answer) => {
      resumed = true;
      return answer;
    });
    t.is((await alice.send('HEAD', media)).status, 200, 'a request without an archive does not wait');
    t.is((await (await bob.get(other.media)).arrayBuffer()).byteLength, archive('u').length);
    // After ten seconds on a busy machine one of them has given way.
    if (performance.now() - started < 9000) {
      t.false(resumed);
      t.is(openFiles(service).length, 16);
    }
    unread[0]?.abort();
    const answer = await resuming;
    t.is(answer.status, 206);
    t.true(Buffer.from(await answer.arrayBuffer()).equals(whole.subarray(6_000_000)));
    t.true(answers.every(({ status }) => status === 200));
    for (const controller of unread) controller.abort();
    await until(async () => openFiles(service).length === 0);
  },
);
