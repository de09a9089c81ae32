import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { tarOf, zipOf } from '../../testing/archives/archive-builders.ts';
import { ATOM, child, DEPOSIT, parsedBody, texts } from '../../testing/documents/parsed-body.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloTar,
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';
import { type ServiceWith, testOfService } from '../../testing/service/test-of-service.ts';

type Context = ServiceWith<'alice'>;
const test = testOfService(
  {
    alice: { collections: ['software'], domain: 'alice.example', providerUrl: 'https://alice.example/code' },
  },
  { maxUploadSize: 1_000_000 },
);

const IRI = '/1/software/?dry-run=true';

const url = '<codemeta:url>https://alice.example/paint</codemeta:url>';
const good = entryXml(`<title>Paint</title><author><name>Ada</name></author>${url}`);
const unvouched = '\nWarnings:\n- Suggested fields are missing (metadata-provenance)';

/** Asserts that the dry run leaves nothing: no event, no object, no id and no file. */
async function trying(t: ExecutionContext<Context>, work: () => Promise<void>): Promise<void> {
  const { service } = t.context;
  await leavesNothing(t, service, work);
  const folder = path.join(service.folder, 'dry-runs');
  for (let tries = 100; tries > 0; tries -= 1) {
    if ((await left(folder)).length === 0) break; // an aborted upload ends a moment later
    await pause(10);
  }
  t.deepEqual(await left(folder), []);
}

async function left(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function wholeForm(entry: string, archive = helloZip, filename = 'hello.zip'): Buffer {
  return formOf([archivePart(archive, filename), entryPart(entry)]);
}

test.serial('a dry run of a valid deposit passes its checks and creates nothing', async (t) => {
  const { alice } = t.context;
  await trying(t, async () => {
    for (const headers of [final, partial, {}]) {
      const answer = await alice.post(IRI, wholeForm(good), { ...formType, ...headers });
      const body = await answer.text();
      t.is(answer.status, 200, body);
      t.is(answer.headers.get('location'), null);
      const entry = parsedBody(body);
      for (const namespace of [DEPOSIT, ATOM]) {
        t.is(child(entry, `${namespace}deposit_status`).text, 'verified');
        const detail = child(entry, `${namespace}deposit_status_detail`).text;
        t.is(detail, `The deposit would pass its checks.${unvouched}`);
        t.deepEqual(texts(entry, `${namespace}deposit_id`), []);
      }
      t.is(child(entry, `${ATOM}title`).text, 'Paint');
      t.is(child(child(entry, `${ATOM}author`), `${ATOM}name`).text, 'alice');
    }
    const json = await alice.post(IRI, wholeForm(good), { ...formType, Accept: 'application/json' });
    t.is(json.headers.get('content-type'), 'application/json');
    t.like(await json.json(), { dry_run: true, deposit_status: 'verified', title: 'Paint' });
  });
});

test.serial('a dry run reports every reason for a rejection', async (t) => {
  const { alice } = t.context;
  const bad = entryXml(
    '<codemeta:licence>MIT</codemeta:licence><codemeta:dateModified>soon</codemeta:dateModified>',
  );
  const cases: readonly (readonly [Buffer | string, Record<string, string>, readonly RegExp[]])[] = [
    [
      wholeForm(bad, helloZip.subarray(0, -30), 'cut.zip'),
      formType,
      [
        /^- Mandatory fields are missing \(author\)$/,
        /^- Mandatory alternate fields are missing \(title, name\)$/,
        /^- "soon" is not a date/,
        /^- cut\.zip: .+ \(archive\)$/,
        /^- At least one url field must be compatible/,
        /^Warnings:$/,
        /^- "licence" is not a term of CodeMeta 2\.0: did you mean license\? \(codemeta:licence\)$/,
        /^- Suggested fields are missing/,
      ],
    ],
    [
      wholeForm(good, tarOf([{ name: '../evil', data: 'x' }]), 'evil.tar'),
      formType,
      [/^- evil\.tar: /, /^Warnings:$/, /^- Suggested/],
    ],
    [
      wholeForm(good, zipOf([{ name: 'inner.zip', data: helloZip }])),
      formType,
      [/^- hello\.zip: .*archive/, /^Warnings:$/, /^- Suggested/],
    ],
    [good, entryHeaders(), [/^- The deposit has no software archive/, /^Warnings:$/, /^- Suggested/]],
    [helloZip, archiveHeaders(), [/^- The deposit has no metadata/, /^- At least one url/]],
  ];
  await trying(t, async () => {
    for (const [body, headers, expected] of cases) {
      const answer = await alice.post(IRI, body, headers);
      t.is(answer.status, 200);
      const entry = parsedBody(await answer.text());
      t.is(child(entry, `${DEPOSIT}deposit_status`).text, 'rejected');
      const lines = child(entry, `${DEPOSIT}deposit_status_detail`).text.split('\n');
      t.is(lines.length, expected.length, lines.join('\n'));
      for (const [index, line] of expected.entries()) t.regex(lines[index] ?? '', line);
    }
  });
});

test.serial('a dry run reports the same as the later checks', async (t) => {
  const { alice } = t.context;
  const form = wholeForm(entryXml(`<title>T</title>${url}`), helloZip.subarray(0, -30));
  const trial = parsedBody(await (await alice.post(IRI, form, { ...formType })).text());
  const made = await alice.post('/1/software/', form, { ...formType, ...final });
  const status = `${pathOf(made)}status/`;
  const real = parsedBody(await alice.waitFor(status, 'rejected'));
  const detail = `${DEPOSIT}deposit_status_detail`;
  t.is(
    child(real, detail).text,
    child(trial, detail).text.replace(
      /(?=\nWarnings:|$)/,
      '\nA rejected deposit cannot be changed: correct this and make a new deposit.',
    ),
  );
});

test.serial('a dry run of metadata alone reports a deposit that is done', async (t) => {
  const { alice } = t.context;
  const origin = 'https://alice.example/code/tried';
  const creating = entryXml(
    `<title>P</title><author><name>A</name></author>${url}<d:create_origin><d:origin url="${origin}"/></d:create_origin>`,
  );
  const made = await alice.post('/1/software/', wholeForm(creating), { ...formType, ...final });
  await alice.waitFor(`${pathOf(made)}status/`, 'done');
  const about = (named: string, fields = url) =>
    entryXml(
      `<title>P</title><author><name>A</name></author>${fields}<d:reference><d:origin url="${named}"/></d:reference>`,
    );
  await trying(t, async () => {
    const answer = await alice.post(IRI, about(origin), entryHeaders());
    t.is(answer.status, 200);
    const entry = parsedBody(await answer.text());
    t.is(child(entry, `${DEPOSIT}deposit_status`).text, 'done');
    t.is(
      child(entry, `${DEPOSIT}deposit_status_detail`).text,
      `The metadata would be deposited.${unvouched}`,
    );
    const unknown = await alice.post(IRI, about(`${origin}2`), entryHeaders());
    await assertSwordError(t, unknown, 400, 'ErrorBadRequest');
    const outside = await alice.post(IRI, about(origin, ''), entryHeaders());
    const reason = await assertSwordError(t, outside, 400, 'ErrorBadRequest');
    t.regex(reason, /expected alice\.example, found none/);
  });
});

test.serial('a dry run is refused like the request itself', async (t) => {
  const { alice } = t.context;
  const foreign = entryXml(
    '<title>P</title><d:create_origin><d:origin url="https://bob.example/"/></d:create_origin>',
  );
  const cases = [
    [IRI, '<entry/>', entryHeaders(), 400, 'ErrorBadRequest'],
    [IRI, foreign, entryHeaders(), 403, 'Forbidden'],
    [IRI, wholeForm(foreign), formType, 403, 'Forbidden'],
    [IRI, Buffer.from('no archive at all'), archiveHeaders(), 415, 'ErrorContent'],
    [IRI, helloZip, { ...archiveHeaders(), 'Content-MD5': '0'.repeat(32) }, 412, 'ErrorChecksumMismatch'],
    [IRI, Buffer.alloc(1_000_001), archiveHeaders(), 413, 'MaxUploadSizeExceeded'],
    [IRI, formOf([archivePart()], { open: true }), formType, 400, 'ErrorBadRequest'],
    ['/1/papers/?dry-run=true', good, entryHeaders(), 404, 'NotFound'],
    ['/1/software/?dry-run=yes', good, entryHeaders(), 400, 'ErrorBadRequest'],
  ] as const;
  await trying(t, async () => {
    for (const [iri, body, headers, status, name] of cases) {
      await assertSwordError(
        t,
        await alice.post(iri, body, { ...headers }),
        status,
        name,
        `${iri} ${status}`,
      );
    }
    const broken = new AbortController();
    const endless = new ReadableStream({
      start: (controller) => controller.enqueue(helloZip),
      pull: () => new Promise(() => undefined),
    });
    const init = { body: endless, duplex: 'half', signal: broken.signal, headers: archiveHeaders() };
    const sending = alice.send('POST', IRI, init as RequestInit).catch(() => 'broken off');
    await pause(100);
    broken.abort();
    t.is(await sending, 'broken off');
  });
});

test.serial('a dry run with an Idempotency-Key of another request is refused like the request', async (t) => {
  const { alice } = t.context;
  const keyed = { ...archiveHeaders(), ...partial, 'Idempotency-Key': randomUUID() };
  t.is((await alice.post(IRI, helloZip, keyed)).status, 200, 'of no request');
  t.is((await alice.post('/1/software/', helloZip, keyed)).status, 201, 'a dry run uses no key');
  await assertSwordError(t, await alice.post('/1/software/', helloTar, keyed), 409, 'Conflict', 'request');
  await trying(t, async () => {
    t.is((await alice.post(IRI, helloZip, keyed)).status, 200, 'of the same request');
    await assertSwordError(t, await alice.post(IRI, helloTar, keyed), 409, 'Conflict', 'dry run');
  });
});

test.serial('concurrent dry runs are independent', async (t) => {
  const { alice } = t.context;
  await trying(t, async () => {
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        const archive = index % 2 === 0 ? helloZip : helloZip.subarray(0, -30);
        return alice.post(IRI, wholeForm(good, archive), { ...formType });
      }),
    );
    let accepted = 0;
    for (const [index, answer] of answers.entries()) {
      const body = await answer.text();
      if (answer.status === 503) continue; // too many at a time
      accepted += 1;
      t.is(answer.status, 200, body);
      t.true(body.includes(`<deposit_status>${index % 2 === 0 ? 'verified' : 'rejected'}<`));
    }
    t.true(accepted >= 4);
  });
  t.is((await alice.post(IRI, wholeForm(good), { ...formType })).status, 200, 'capacity is available again');
});

test.serial(
  'slow dry runs of one client are refused at a limit, and leave capacity for other clients',
  async (t) => {
    const { service, alice } = t.context;
    const bob = await service.register('bob', { collections: ['software'] });
    const slow = new Set<http.ClientRequest>();
    const beginSlowly = (): void => {
      const headers = { ...archiveHeaders(), Authorization: alice.authorization, 'Content-Length': 1000 };
      const request = http.request(new URL(IRI, alice.url), { method: 'POST', headers });
      request.on('error', () => undefined);
      request.write(helloZip.subarray(0, 100));
      slow.add(request);
    };
    const send = (client: TestClient) => client.post(IRI, wholeForm(good), { ...formType });
    const statusFor = async (client: TestClient): Promise<number> => {
      const answer = await send(client);
      await answer.text();
      return answer.status;
    };
    await until(async () => {
      const isFull = (await statusFor(alice)) === 503;
      if (!isFull) beginSlowly(); // it can enter in the pause before the next check
      return isFull;
    });
    const refused = await send(alice);
    t.is(refused.headers.get('retry-after'), '5');
    t.regex(await assertSwordError(t, refused, 503, 'ServiceUnavailable'), /dry runs of yours are running/);
    t.is(await statusFor(bob), 200);
    for (const request of slow) request.destroy();
    await until(async () => (await statusFor(alice)) === 200);
  },
);

test.serial('dry-run=false creates a deposit', async (t) => {
  const { alice } = t.context;
  const answer = await alice.post('/1/software/?dry-run=false', wholeForm(good), { ...formType, ...partial });
  t.is(answer.status, 201);
});
