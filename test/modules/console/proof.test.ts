import { spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { Script } from 'node:vm';
import test from 'ava';
import type { RecordedEvent } from '../../../src/event-log/event-log.ts';
import { hashOf } from '../../../src/event-log/integrity/hash-chain.ts';
import { anchorDigest, anchorIn, signAnchor } from '../../../src/modules/anchors/anchor.ts';
import { coveredEvent } from '../../../src/modules/anchors/merkle-leaf.ts';
import { MerkleTree } from '../../../src/modules/anchors/merkle-tree.ts';
import { proofRoutes } from '../../../src/modules/console/api/proofs.ts';
import { isSignedByItsKey, publicKeysIn } from '../../../src/modules/console/proof/anchor.ts';
import { collectEvidence, type EvidenceSource } from '../../../src/modules/console/proof/collect.ts';
import { digest, joined } from '../../../src/modules/console/proof/digests.ts';
import {
  type Evidence,
  type ProvenEvent,
  readEvidence,
} from '../../../src/modules/console/proof/evidence.ts';
import { directoryId } from '../../../src/modules/console/proof/git-objects.ts';
import { chainFaults } from '../../../src/modules/console/proof/hash-chain.ts';
import { LogTree, leafHash, merkleTree, rootOfPath } from '../../../src/modules/console/proof/merkle-tree.ts';
import { prove } from '../../../src/modules/console/proof/prove.ts';
import { NOT_PROVEN, verdictOf } from '../../../src/modules/console/proof/steps.ts';
import { verifierPage } from '../../../src/modules/console/server/verifier-page.ts';
import { openLog } from '../../../src/service/backends/open-log.ts';
import { openStore } from '../../../src/service/backends/open-store.ts';
import { DirectoryBodyBuilder } from '../../../src/swhid/directory.ts';
import { gitObjectId } from '../../../src/swhid/git-object.ts';
import { FILES_OF_NODE } from '../../../src/tools/files.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { rewriteStream } from '../../../testing/event-log/tampering.ts';
import { auditedService, configOf } from '../../verify/audited-service.ts';

const service = auditedService(test, 6);

type StoredStream = { readonly stream: string; readonly events: readonly Omit<ProvenEvent, 'stream'>[] };

const fixture = new URL('../../fixtures/stored-events.json', import.meta.url);
const streams = (JSON.parse(readFileSync(fixture, 'utf8')) as readonly StoredStream[]).map(
  ({ stream, events }) => ({ stream, events: events.map((event) => ({ ...event, stream })) }),
);

test('stored streams are proven by an independent program, and every changed event is named', async (t) => {
  for (const { stream, events } of streams) {
    t.deepEqual(await chainFaults(stream, events), [], stream);
    for (const [index, event] of events.entries()) {
      t.is(event.metadata['hash'], hashOf(stream, index, event));
      const changed = { ...event, data: { ...event.data, more: 'x' } };
      const faults = await chainFaults(stream, events.with(index, changed));
      t.deepEqual(faults, [{ revision: index, text: 'does not carry the hash of its contents' }]);
    }
    const cut = await chainFaults(stream, events.toSpliced(0, 1));
    t.is(cut.length > 0, events.length > 1, stream);
  }
});

test('a chain reports events of another stream, without a hash, and with another predecessor', async (t) => {
  const [{ stream, events }] = streams as [(typeof streams)[number]];
  const [first, second] = events as [ProvenEvent, ProvenEvent];
  const { hash: _, ...bare } = second.metadata;
  const texts = async (...some: ProvenEvent[]) => (await chainFaults(stream, some)).map(({ text }) => text);
  t.deepEqual(await texts(first, { ...second, metadata: bare }), ['carries no hash']);
  t.true(
    (await texts({ ...first, stream: 'deposit-2' })).includes(`is of the stream deposit-2, not of ${stream}`),
  );
  t.true((await texts(second)).includes('does not name the hash of the event before it'));
});

test('the root and each path match RFC 6962 and the service, for every size', async (t) => {
  const hashes: Uint8Array<ArrayBuffer>[] = [];
  const tree = new MerkleTree();
  for (let size = 1; size <= 11; size += 1) {
    const leaf = randomBytes(20);
    tree.append(leaf);
    hashes.push(await digest('SHA-256', joined(Uint8Array.of(0), leaf)));
    for (const [index, hash] of hashes.entries()) {
      const { root, path } = await merkleTree(hashes, index);
      t.is(root, tree.root());
      t.is(await rootOfPath(hash, { index, path }, size), root);
      if (size > 1) {
        t.is(
          await rootOfPath(hash, { index, path: path.slice(1) }, size),
          undefined,
          'a path that is too short',
        );
        t.not(await rootOfPath(hash, { index: (index + 1) % size, path }, size), root, 'another place');
      }
      t.is(
        await rootOfPath(hash, { index, path: [...path, root] }, size),
        undefined,
        'a path that is too long',
      );
      t.is(await rootOfPath(hash, { index: size, path }, size), undefined, 'a place outside');
    }
  }
});

test('a tree that grows page by page has the root of every size, and the path of every leaf', async (t) => {
  for (let size = 1; size <= 14; size += 1) {
    const service = new MerkleTree();
    const tree = new LogTree({ pageLeaves: 4 });
    const hashes: Uint8Array<ArrayBuffer>[] = [];
    const paths: string[][] = [];
    for (let start = 0; start < size; start += 4) {
      const page: Uint8Array<ArrayBuffer>[] = [];
      for (let index = start; index < Math.min(size, start + 4); index += 1) {
        const leaf = randomBytes(20);
        service.append(leaf);
        page.push(await digest('SHA-256', joined(Uint8Array.of(0), leaf)));
      }
      await tree.add(page);
      hashes.push(...page);
      paths.push(...page.map((_, index) => tree.pathInPage(index)));
      for (let part = start + 1; part <= hashes.length; part += 1)
        t.is(
          await tree.rootAt(part),
          (await merkleTree(hashes.slice(0, part), 0)).root,
          `${part} of ${size}`,
        );
    }
    t.is(await tree.rootAt(size), service.root());
    for (const [index, hash] of hashes.entries()) {
      const path = [...(paths[index] ?? []), ...(await tree.pathOfPage(Math.floor(index / 4)))];
      t.is(await rootOfPath(hash, { index, path }, size), service.root(), `${index} of ${size}`);
    }
  }
});

test('the signature of an anchor is valid only for its contents', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const statement = { events: 3, root: 'a'.repeat(64), previous: null, madeAt: '2026-01-01T00:00:00.000Z' };
  const anchor = signAnchor(statement, privateKey);
  t.true(await isSignedByItsKey(anchor));
  t.false(await isSignedByItsKey({ ...anchor, events: 4 }));
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  t.deepEqual(publicKeysIn(`${pem}\n${pem}`), [anchor.publicKey, anchor.publicKey]);
});

test('directories have the identifiers that the service computes, for any names', async (t) => {
  const entries = ['a', 'a.b', 'a0', '\xe9', '\xc3\xa9', 'Z'].flatMap((name, index) => [
    { mode: '40000' as const, name, id: String(index).repeat(40) },
    { mode: '100644' as const, name: `${name}-`, id: String(index + 1).repeat(40) },
  ]);
  const body = new DirectoryBodyBuilder();
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) body.add(entry);
  t.is(await directoryId(entries), gitObjectId('tree', body.end()));
  t.is(await directoryId([]), '4b825dc642cb6eb9a060e54bf8d69288fbee4904');
});

test('every loaded deposit is proven by its evidence alone, also after a save and with an external key', async (t) => {
  const folder = await service.copy(t);
  const key = await keyIn(folder);
  const all = await evidenceIn(folder);
  t.true(all.length >= 6);
  t.true(all.filter(({ manifest }) => manifest !== null).length >= 3);
  for (const evidence of all) {
    const again = readEvidence(JSON.stringify(evidence));
    const outcomes = await outcomesOf(again, [key]);
    const identifiers = evidence.manifest === null ? 'open' : 'proven';
    t.deepEqual(outcomes, {
      chain: 'proven',
      signature: 'proven',
      root: 'proven',
      anchors: 'proven',
      identifiers,
    });
  }
  const [evidence] = all as [Evidence];
  t.is((await outcomesOf(evidence, [])).signature, 'open', 'without a key');
  t.is((await outcomesOf(evidence, ['AAAA'])).signature, 'broken', 'with another key');
});

test('one byte changed in the log file: the proof names the event, as verify.py does', async (t) => {
  const folder = await service.copy(t);
  const [name, revision] = changeOneByte(path.join(folder, 'event-log.sqlite'));
  for (const evidence of await evidenceIn(folder)) {
    const steps = await Array.fromAsync(prove(evidence, []));
    const chain = steps.find((step) => step.name === 'chain');
    if (name === `deposit-${evidence.deposit}`) t.like(chain, { outcome: 'broken', revisions: [revision] });
    else t.like(chain, { outcome: 'proven' });
  }
  const verifier = path.join(import.meta.dirname, '../../../docs/auditing/verify.py');
  const args = ['-B', verifier, path.join(folder, 'event-log.sqlite')];
  const { stdout, error } = spawnSync('python3', args, { encoding: 'utf8' });
  if (!error)
    t.true(stdout.includes(`${name} revision ${revision}: does not carry the hash of its contents`));
});

test('a stream rewritten with valid hashes does not match the root of the anchor', async (t) => {
  const [kept, altered] = [await service.copy(t), await service.copy(t)];
  const stream = rewriteStream(path.join(altered, 'event-log.sqlite'));
  for (const evidence of await evidenceIn(altered, path.join(kept, 'anchors.ndjson'))) {
    const { chain, root } = await outcomesOf(evidence, []);
    t.is(chain, 'proven');
    t.is(
      root,
      'broken',
      `deposit ${evidence.deposit}: the log is not the one of the anchor, ${stream} was rewritten`,
    );
  }
});

test('events after the one from which the path leads to the anchor are not shown to be under it', async (t) => {
  const folder = await service.copy(t);
  const key = await keyIn(folder);
  const evidence = (await evidenceIn(folder)).find(({ events }) => events.length > 3) as Evidence;
  const last = evidence.events.length - 1;
  t.is(evidence.covered?.revision, last);
  for (const [revision, text] of [
    [0, `Events #1 to #${last} are not shown to be under it`],
    [last - 1, `Event #${last} is not shown to be under it`],
  ] as const) {
    const covered = await pathTo(folder, evidence, revision);
    const steps = await Array.fromAsync(prove({ ...evidence, covered }, [key]));
    const root = steps.find(({ name }) => name === 'root');
    t.is(root?.outcome, 'open');
    t.true(root?.text.includes(text), root?.text);
    t.deepEqual(verdictOf(steps), {
      outcome: 'open',
      text: 'nothing is broken, but not everything is shown: Root of the log',
    });
  }
});

test('the event under the anchor is found by its revision, also after one that was removed', async (t) => {
  const folder = await service.copy(t);
  const evidence = (await evidenceIn(folder)).find(({ events }) => events.length > 3) as Evidence;
  const cut = { ...evidence, events: evidence.events.toSpliced(1, 1) };
  const rootIn = async (of: Evidence) =>
    (await Array.fromAsync(prove(of, []))).find(({ name }) => name === 'root');
  t.is((await rootIn(cut))?.outcome, 'proven');
  const covered = await pathTo(folder, evidence, 2);
  const last = evidence.events.at(-1)?.revision;
  t.regex((await rootIn({ ...cut, covered }))?.text ?? '', new RegExp(`Events #3 to #${last} are not shown`));
  t.deepEqual((await rootIn({ ...cut, covered: { ...covered, index: 0 } }))?.revisions, [2]);
});

test('an earlier anchor that was changed, removed or signed with another key is named by its time', async (t) => {
  const folder = await service.copy(t);
  const key = await keyIn(folder);
  const [evidence] = (await evidenceIn(folder)) as [Evidence];
  const [first] = evidence.earlier as NonNullable<Evidence['earlier']>;
  if (!first) throw new Error('the log has one anchor alone');
  const stepOf = async (earlier: Evidence['earlier'], keys = [key]) =>
    (await Array.fromAsync(prove({ ...evidence, ...(earlier && { earlier }) }, keys))).find(
      ({ name }) => name === 'anchors',
    );
  t.like(await stepOf([first]), { outcome: 'proven' });
  t.regex((await stepOf([first]))?.text ?? '', /That the log gave its root is only stated\./);
  t.like(await stepOf([first], []), { outcome: 'open' });
  const changes = {
    'does not carry a signature': { ...first, anchor: { ...first.anchor, events: first.anchor.events - 1 } },
    'does not have the root': { ...first, root: '0'.repeat(64) },
    'is not the one that the next anchor names': {
      ...first,
      anchor: { ...first.anchor, madeAt: '2026-01-01T00:00:00.000Z' },
    },
  };
  for (const [text, changed] of Object.entries(changes)) {
    const step = await stepOf([changed]);
    t.is(step?.outcome, 'broken', text);
    t.true(step?.text.includes(`The anchor of ${changed.anchor.madeAt}`), step?.text);
    t.true(step?.text.includes(text), step?.text);
  }
  t.like(await stepOf([]), { outcome: 'broken' }, 'all were removed');
  const privateKey = createPrivateKey(readFileSync(path.join(folder, 'keys/anchor-ed25519.pem')));
  const resigned = ({ events, root, madeAt }: (typeof first)['anchor'], previous: string) =>
    signAnchor({ events, root, madeAt, previous }, privateKey);
  const beheaded = (count: number): Evidence => {
    const chain = [resigned(first.anchor, '0'.repeat(64))];
    while (chain.length < count) chain.push(resigned(first.anchor, anchorDigest(chain.at(-1)!)));
    const newest = resigned(evidence.anchor ?? first.anchor, anchorDigest(chain.at(-1)!));
    return { ...evidence, anchor: newest, earlier: chain.map((anchor) => ({ ...first, anchor })) };
  };
  t.is((await outcomesOf(beheaded(3), [key])).anchors, 'broken', 'the oldest were removed');
  t.is((await outcomesOf(beheaded(1000), [key])).anchors, 'proven', 'evidence has no more');
  t.like(await stepOf([first], ['AAAA']), { outcome: 'broken' });
  t.true((await stepOf([first], ['AAAA']))?.text.includes('is signed by another key'));
  const { earlier: _, ...older } = evidence;
  const steps = await outcomesOf(readEvidence(JSON.stringify(older)), [key]);
  t.is(steps.anchors, 'open', 'evidence of an earlier release is still read');
});

test('the only anchor of a log has no earlier one, and what nothing signs is listed as not proven', async (t) => {
  const folder = await service.copy(t);
  const key = await keyIn(folder);
  const [evidence] = (await evidenceIn(folder)) as [Evidence];
  const [first] = evidence.earlier ?? [];
  const oldest = { ...evidence, anchor: first?.anchor ?? null, earlier: [] };
  t.is((await outcomesOf(oldest, [key])).anchors, 'proven');
  const elsewhere = { ...evidence, service: 'https://other.example', savedAt: '2020-01-01T00:00:00.000Z' };
  t.deepEqual(await outcomesOf(elsewhere, [key]), await outcomesOf(evidence, [key]));
  t.true(NOT_PROVEN.some((text) => text.includes('address') && text.includes('neither is signed')));
});

test('a proof over one event, or one earlier anchor, is not said in the plural', async (t) => {
  const [evidence] = (await evidenceIn(await service.copy(t))) as [Evidence];
  const textsOf = async (some: Evidence) =>
    Object.fromEntries((await Array.fromAsync(prove(some, []))).map(({ name, text }) => [name, text]));
  const one = await textsOf({ ...evidence, events: evidence.events.slice(0, 1) });
  t.is(
    one['chain'],
    'Each event carries the hash of its contents and is linked to the one before it. Events: 1.',
  );
  t.is(evidence.earlier?.length, 1);
  t.regex(one['anchors'] ?? '', /^Each since .* is signed .* Anchors: 1\. Their keys were not compared/);
});

test('a changed manifest, identifier or path is named', async (t) => {
  const all = await evidenceIn(await service.copy(t));
  const evidence = all.find(({ manifest }) => manifest !== null) as Evidence;
  const manifest = evidence.manifest as string;
  t.is((await outcomesOf({ ...evidence, manifest: `${manifest}\n` }, [])).identifiers, 'broken');
  const other = { ...(evidence.covered as NonNullable<Evidence['covered']>), index: 0 };
  t.is((await outcomesOf({ ...evidence, covered: other }, [])).root, 'broken');
  for (const name of ['directory', 'revision', 'snapshot', 'manifest'] as const) {
    const events = evidence.events.map((event) =>
      event.type === 'DepositLoaded' ? { ...event, data: { ...event.data, [name]: '0'.repeat(40) } } : event,
    );
    const { chain, identifiers } = await outcomesOf({ ...evidence, events }, []);
    t.deepEqual([chain, identifiers], ['broken', 'broken'], name);
  }
});

test('a file that is no evidence is refused with the reason', async (t) => {
  const [evidence] = (await evidenceIn(await service.copy(t))) as [Evidence];
  const refused = (change: object) => () => readEvidence(JSON.stringify({ ...evidence, ...change }));
  t.throws(() => readEvidence('{'), { name: 'SyntaxError' });
  t.throws(() => readEvidence('null'), { message: /its evidence is missing or malformed/ });
  t.throws(refused({ evidence: 2 }), { message: /its evidence is/ });
  for (const service of [
    '',
    'deposits.example',
    'ftp://a.example',
    'https://',
    'https://a.example/x y',
    'https://a\u202e',
  ])
    t.throws(refused({ service }), { message: /its service is/ }, service);
  for (const savedAt of [
    '',
    '2026-01-01',
    '2026-01-01T00:00:00',
    'on 2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00Z: proven',
  ])
    t.throws(refused({ savedAt }), { message: /its savedAt is/ }, savedAt);
  for (const service of ['http://127.0.0.1:8080', 'http://[::1]:8080', 'https://a.example/base/%C3%A9'])
    t.notThrows(refused({ service }), service);
  t.throws(refused({ events: [] }), { message: /its events is/ });
  t.throws(refused({ events: [{ ...evidence.events[0], revision: -1 }] }), { message: /its events is/ });
  t.throws(refused({ anchor: { ...evidence.anchor, root: 'x' } }), { message: /its anchor is/ });
  t.throws(refused({ covered: { revision: 0, index: 0, path: ['x'] } }), { message: /its covered is/ });
  t.throws(refused({ earlier: [{}] }), { message: /its earlier is/ });
  t.throws(refused({ manifest: 1 }), { message: /its manifest is/ });
  t.throws(refused({ note: 'x' }), { message: /it also has note\.$/ });
  t.throws(refused({ events: [{ ...evidence.events[0], more: 1 }] }), { message: /its events is/ });
  t.throws(refused({ anchor: { ...evidence.anchor, more: 1 } }), { message: /its anchor is/ });
  t.throws(refused({ covered: { ...evidence.covered, more: 1 } }), { message: /its covered is/ });
  const saved = JSON.stringify(evidence);
  for (const change of [
    saved.replace('"depositId":1', '"depositId":9,"depositId":1'),
    saved.replace('"events":[', '"events":[],"events":['),
    saved.replace('"depositId":1', '"depositId":1.0'),
  ])
    t.throws(() => readEvidence(change), { message: /a key stands twice, or it was written otherwise\.$/ });
  t.notThrows(() => readEvidence(`${saved}\n`));
});

test('the offline verifier is one file with the documented SHA-256, and cannot send requests', async (t) => {
  const html = await verifierPage();
  t.is(await verifierPage(), html, 'the same bytes again');
  const sha256 = hash('sha256', html);
  const documented = readFileSync(new URL('../../../docs/auditing.md', import.meta.url), 'utf8');
  t.true(documented.includes(sha256), `docs/auditing.md does not state ${sha256}`);
  const [, script = ''] = /<script type="module">([\s\S]*)<\/script>/.exec(html) ?? [];
  t.notThrows(() => new Script(script), 'it is one script, in which every name is declared once');
  t.true(html.includes(`script-src 'sha256-${hash('sha256', script, 'base64')}'`));
  t.true(html.includes("default-src 'none'") && html.includes("connect-src 'none'"));
  t.notRegex(html, /\bimport\b\s*[({'"]|https?:|src=|href=/);
});

test('a verifier whose sources could not be read is made by the next request', async (t) => {
  const route = proofRoutes({ log: new MemoryEventLog() }).find(({ path }) => path.endsWith('/verifier'));
  const ctx = { body: '', attachment: () => undefined };
  const request = { ctx, params: {}, query: new URLSearchParams(), body: undefined };
  const answer = async () => route?.answer(request as never);
  const readFile = () => Promise.reject(new Error('EMFILE'));
  const files = { ...FILES_OF_NODE, readFile } as typeof FILES_OF_NODE;
  await t.throwsAsync(runInWorld({ files }, answer), { message: 'EMFILE' });
  await answer();
  t.is(ctx.body, await verifierPage());
});

/** Returns the outcome of each step. */
async function outcomesOf(evidence: Evidence, keys: readonly string[]) {
  const steps = await Array.fromAsync(prove(evidence, keys));
  return Object.fromEntries(steps.map(({ name, outcome }) => [name, outcome])) as Record<
    (typeof steps)[number]['name'],
    string
  >;
}

/** Collects the evidence of every deposit in a folder, with the anchors of its log or of a file. */
async function evidenceIn(folder: string, anchors?: string): Promise<Evidence[]> {
  await using log = await openLog(configOf(folder));
  await using store = await openStore(configOf(folder));
  const every = await Array.fromAsync(log.readAll());
  const ids = new Set(every.flatMap(({ stream }) => /^deposit-(\d+)$/.exec(stream)?.[1] ?? []));
  const loadedIn = (deposit: number) =>
    every.find(({ stream, type }) => stream === `deposit-${deposit}` && type === 'DepositLoaded');
  const lines = anchors === undefined ? undefined : readFileSync(anchors, 'utf8').trimEnd().split('\n');
  const source: EvidenceSource = {
    events: (name) => Promise.resolve(every.filter(({ stream }) => stream === name).map(withoutPosition)),
    anchors: () =>
      Promise.resolve(
        lines?.map(anchorIn) ??
          every.filter(({ type }) => type === 'AnchorMade').map(({ data }) => data as never),
      ),
    async *leaves() {
      for (let at = 0; at < every.length; at += 7)
        yield await Promise.all(
          every
            .slice(at, at + 7)
            .map((event) => digest('SHA-256', joined(Uint8Array.of(0), coveredEvent(event)))),
        );
    },
    manifest: async (deposit) => {
      const loaded = loadedIn(deposit);
      if (!loaded) return null;
      const manifest = loaded.data['manifest'] as string;
      return await text((await store.get(manifest)).body);
    },
  };
  const about = { service: 'http://127.0.0.1', savedAt: '2026-01-01T00:00:00.000Z' };
  return await Promise.all([...ids].map((id) => collectEvidence(source, { ...about, deposit: Number(id) })));
}

/** Returns the path from an event of the deposit to the root of the anchor, as a forger may choose it. */
async function pathTo(folder: string, { anchor, events }: Evidence, revision: number) {
  await using log = await openLog(configOf(folder));
  const every = await Array.fromAsync(log.readAll(), withoutPosition);
  const index = every.findIndex(({ id }) => id === events[revision]?.id);
  const leaves = await Promise.all(every.slice(0, anchor?.events).map(leafHash));
  return { revision, index, path: (await merkleTree(leaves, index)).path };
}

async function keyIn(folder: string): Promise<string> {
  await using log = await openLog(configOf(folder));
  const [made] = await Array.fromAsync(log.readStream('anchors', { limit: 1 }));
  return made?.data['publicKey'] as string;
}

/** Changes one byte in the data of an event of a deposit. Returns its stream and revision. */
function changeOneByte(file: string): [string, number] {
  const database = new DatabaseSync(file);
  const sql = `SELECT name, revision, position FROM events JOIN streams ON streams.id = events.stream
    WHERE type = 'DepositLoaded' ORDER BY position LIMIT 1`;
  const { name, revision, position } = database.prepare(sql).get() as {
    name: string;
    revision: number;
    position: number;
  };
  database
    .prepare(
      `UPDATE events SET data = replace(data, '"policy":"swh-1"', '"policy":"swh-2"') WHERE position = ?`,
    )
    .run(position);
  database.close();
  return [name, revision];
}

function withoutPosition(event: RecordedEvent): ProvenEvent {
  const { position: _, ...proven } = event;
  return proven;
}
