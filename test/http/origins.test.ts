import type { ExecutionContext } from 'ava';
import { readList } from '../../testing/documents/listed-deposits.ts';
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
  helloZip,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { until } from '../../testing/processes/until.ts';
import { leavesNothing } from '../../testing/service/stored-things.ts';
import { testOfService } from '../../testing/service/test-of-service.ts';

const PROVIDER = 'https://forge.example/code';
const test = testOfService({ alice: { collections: ['papers', 'software'], providerUrl: PROVIDER } });

function entry(relation: 'create_origin' | 'add_to_origin', url: string): string {
  const origin = `<d:${relation}><d:origin url="${url}"/></d:${relation}>`;
  return entryXml(`<title>Paint</title><author><name>Ada</name></author><d:deposit>${origin}</d:deposit>`);
}

function depositing(client: TestClient, xml: string, headers: Record<string, string> = final) {
  return client.post('/1/software/', formOf([archivePart(), entryPart(xml)]), { ...formType, ...headers });
}

/** Resolves to its path, `/1/software/<id>/`, once it is done. */
async function done(t: ExecutionContext, client: TestClient, answer: Response): Promise<string> {
  const body = await answer.text();
  t.is(answer.status, 201, body);
  const path = pathOf(answer);
  await client.waitFor(`${path}status/`, 'done');
  return path;
}

/** Resolves to the versions, newest first; views of a node may be a moment behind its last answer. */
async function versionsOf(client: TestClient, origin: string, done: number) {
  const query = `/1/software/?status=done&origin=${encodeURIComponent(origin)}`;
  await until(async () => (await readList(await client.get(query))).count === String(done));
  return (await readList(await client.get(query))).deposits;
}

function contextIn(body: string): string {
  return /<deposit_swh_id_context>([^<]+)</.exec(body)?.[1] ?? '';
}

test('a further deposit is a new version of its origin, with identifiers of its own', async (t) => {
  const { alice } = t.context;
  const origin = `${PROVIDER}/paint`;
  const first = await done(t, alice, await depositing(alice, entry('create_origin', origin)));
  const second = await done(t, alice, await depositing(alice, entry('add_to_origin', origin)));
  const contexts = await Promise.all(
    [first, second].map(async (path) => contextIn(await (await alice.get(`${path}status/`)).text())),
  );
  const [one, other] = contexts.map((context) =>
    /^(swh:1:dir:\w{40});origin=([^;]+);visit=swh:1:snp:(\w{40});anchor=swh:1:rev:(\w{40});path=\/$/.exec(
      context,
    ),
  );
  t.deepEqual([one?.[2], other?.[2]], [origin, origin]);
  t.is(one?.[1], other?.[1], 'the same archive');
  t.not(one?.[3], other?.[3], 'a visit each');
  t.not(one?.[4], other?.[4], 'a revision each');
  t.deepEqual(
    (await versionsOf(alice, origin, 2)).map(({ id, origin_url }) => [`/1/software/${id}/`, origin_url]),
    [
      [second, origin],
      [first, origin],
    ],
  );
});

test('repeating the same slug creates a further version', async (t) => {
  const { alice } = t.context;
  const plain = entryXml('<title>Paint</title><author><name>Ada</name></author>');
  for (const _ of [1, 2]) await done(t, alice, await depositing(alice, plain, { ...final, Slug: 'brush' }));
  const added = await depositing(alice, entry('add_to_origin', `${PROVIDER}/brush`));
  await done(t, alice, added);
  t.deepEqual(
    (await versionsOf(alice, `${PROVIDER}/brush`, 3)).map(({ external_id }) => external_id),
    [undefined, 'brush', 'brush'],
  );
});

test.serial('a deposit with the longest Slug can be named by its origin and its identifiers', async (t) => {
  const { alice, service } = t.context;
  const plain = entryXml('<title>Paint</title><author><name>Ada</name></author>');
  const free = 1_024 - PROVIDER.length - 1; // nine bytes for each character, and one for each digit
  const slug = `${'%E6%BC%A2'.repeat(Math.floor(free / 9))}${'1'.repeat(free % 9)}`;
  const path = await done(t, alice, await depositing(alice, plain, { ...final, Slug: slug }));
  await done(t, alice, await depositing(alice, entry('add_to_origin', `${PROVIDER}/${slug}`)));
  const context = contextIn(await (await alice.get(`${path}status/`)).text());
  for (const [name, value] of [
    ['object swhid', context],
    ['origin url', `${PROVIDER}/${slug}`],
  ]) {
    const reference = `<d:reference><d:${name}="${value}"/></d:reference>`;
    const about = plain.replace('</entry>', `${reference}</entry>`);
    const answer = await alice.post('/1/software/', about, { ...entryHeaders(), ...final });
    t.is(answer.status, 201, await answer.text());
  }
  await leavesNothing(t, service, async () => {
    const longer = { ...entryHeaders(), ...final, Slug: `${slug}2` };
    for (const iri of ['/1/software/', '/1/software/?dry-run=true']) {
      const answer = await alice.post(iri, plain, longer);
      t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest'), /Slug .* 1024 bytes/);
    }
    const named = await depositing(alice, entry('create_origin', `${PROVIDER}/${slug}2`));
    t.regex(await assertSwordError(t, named, 400, 'ErrorBadRequest'), /origin URL .* 1024 bytes/);
    // The origin of the entry may be replaced, or no entry has one.
    const own = entry('create_origin', `${PROVIDER}/own`);
    const form = formOf([archivePart()]);
    for (const answer of [
      await depositing(alice, own, { ...longer, ...formType, ...partial }),
      await alice.post('/1/software/', form, { ...longer, ...formType }),
      await alice.post('/1/software/', helloZip, { ...longer, ...archiveHeaders() }),
    ])
      t.regex(await assertSwordError(t, answer, 400, 'ErrorBadRequest'), /Slug .* 1024 bytes/);
  });
  const own = entry('create_origin', `${PROVIDER}/own`);
  await done(t, alice, await depositing(alice, own, { ...final, Slug: `${slug}2` }));
});

test('a Slug with a joiner ends the origin in percent encoding; one that turns text around is refused', async (t) => {
  const { alice } = t.context;
  const plain = entryXml('<title>Paint</title><author><name>Ada</name></author>');
  const slug = encodeURIComponent('\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645');
  const path = await done(t, alice, await depositing(alice, plain, { ...final, Slug: slug }));
  t.true(contextIn(await (await alice.get(`${path}status/`)).text()).includes(slug.replaceAll('%', '%25')));
  const turned = await depositing(alice, plain, { ...final, Slug: 'a%E2%80%AEb' });
  t.regex(await assertSwordError(t, turned, 400, 'ErrorBadRequest'), /direction of text/);
});

test('a version can be added to an origin as soon as the deposit is done', async (t) => {
  const { alice } = t.context;
  const rounds = Array.from({ length: 6 }, async (_, round) => {
    const origin = `${PROVIDER}/round-${round}`;
    await done(t, alice, await depositing(alice, entry('create_origin', origin)));
    const added = await depositing(alice, entry('add_to_origin', origin), partial);
    t.is(added.status, 201, await added.text());
  });
  await Promise.all(rounds);
});

test.serial('adding to an origin without loaded versions is refused, and nothing is recorded', async (t) => {
  const { service, alice } = t.context;
  const bob = await service.register('bob', { collections: ['software'], providerUrl: PROVIDER });
  const [bobs, open, rejected] = [`${PROVIDER}/bobs`, `${PROVIDER}/open`, `${PROVIDER}/rejected`];
  await done(t, bob, await depositing(bob, entry('create_origin', bobs)));
  const started = await depositing(alice, entry('create_origin', open), partial);
  const path = new URL(started.headers.get('location') ?? '').pathname;
  const bare = await alice.post('/1/software/', entry('create_origin', rejected), {
    ...entryHeaders(),
    ...final,
  });
  await alice.waitFor(`${pathOf(bare)}status/`, 'rejected');
  await leavesNothing(t, service, async () => {
    for (const origin of [bobs, open, rejected, `${PROVIDER}/never`, `${PROVIDER}/paint/`]) {
      const xml = entry('add_to_origin', origin);
      const answers = [
        alice.post('/1/software/', xml, { ...entryHeaders(), ...partial }),
        alice.post('/1/software/', formOf([entryPart(xml), archivePart()]), { ...formType, ...final }),
        alice.post('/1/software/', formOf([archivePart(), entryPart(xml)]), { ...formType, ...final }),
        alice.post(path, xml, entryHeaders()),
        alice.put(path, xml, entryHeaders()),
      ];
      for (const answer of await Promise.all(answers)) {
        const summary = await assertSwordError(t, answer, 404, 'NotFound', origin);
        t.true(summary.includes(`the origin ${origin}: this client has no deposit from there that is done`));
      }
    }
  });
  t.is((await alice.get(path)).status, 200, 'the deposit is unchanged');
});

test('a version can be added to an origin of another collection of the client', async (t) => {
  const { alice } = t.context;
  const origin = `${PROVIDER}/moved`;
  const form = formOf([archivePart(), entryPart(entry('create_origin', origin))]);
  const paper = await alice.post('/1/papers/', form, { ...formType, ...final });
  await alice.waitFor(`${pathOf(paper)}status/`, 'done');
  t.is((await depositing(alice, entry('add_to_origin', origin), partial)).status, 201);
});

test('both creating and adding to an origin is a bad request; a foreign origin is forbidden', async (t) => {
  const { alice, service } = t.context;
  const origin = (name: string) => `<d:${name}><d:origin url="${PROVIDER}/both"/></d:${name}>`;
  const both = entryXml(`<title>P</title>${origin('create_origin')}${origin('add_to_origin')}`);
  await assertSwordError(t, await depositing(alice, both), 400, 'ErrorBadRequest');
  const foreign = entry('add_to_origin', 'https://elsewhere.example/paint');
  await assertSwordError(t, await depositing(alice, foreign), 403, 'Forbidden');
  const carol = await service.register('carol', { collections: ['software'] });
  const opened = await carol.post('/1/software/', archivePart().body as Buffer, {
    ...archiveHeaders(),
    ...partial,
  });
  const fallback = `${service.url}${pathOf(opened)}`;
  await assertSwordError(t, await depositing(carol, entry('add_to_origin', fallback)), 403, 'Forbidden');
});
