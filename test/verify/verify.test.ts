import { execFileSync } from 'node:child_process';
import { createHash, hash, randomUUID } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { aggregates } from '../../src/domain/aggregates.ts';
import type { JsonObject } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { PlainLogAudit } from '../../src/event-log/integrity/log-audit.ts';
import { StreamHeads } from '../../src/event-log/integrity/stream-heads.ts';
import { toPosition } from '../../src/event-log/position.ts';
import { chainCheck } from '../../src/operations/verify/checks/chain.ts';
import { codecCheck } from '../../src/operations/verify/checks/codec.ts';
import { depositIdCheck } from '../../src/operations/verify/checks/deposit-id.ts';
import { eventIdCheck } from '../../src/operations/verify/checks/event-id.ts';
import { isStreamName, streamNameCheck } from '../../src/operations/verify/checks/stream-name.ts';
import { logPass } from '../../src/operations/verify/log-pass.ts';
import { type Finding, Report } from '../../src/operations/verify/report.ts';
import { summaryText } from '../../src/operations/verify/verification-summary.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { DigestSet } from '../../src/tools/digest-set.ts';
import { logicalContent } from '../../testing/event-log/logical-content.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { jsonLines, runScript } from '../../testing/processes/run-script.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { auditedService, codesOf, configOf, verified } from './audited-service.ts';

const service = auditedService(test);

test('an untouched service is verified, and its files are unchanged', async (t) => {
  const folder = await service.copy(t);
  const before = await contentsOf(folder);
  const { findings, report } = await verified(folder);
  t.deepEqual(findings, []);
  const { counts } = report;
  t.like(counts, { deposits: 13, anchors: 2, streams: 21 });
  t.is(counts.events, rows(folder, 'SELECT count(*) AS n FROM events')[0]?.['n'] as number);
  t.true(counts.objects > 40 && counts.bytes > 300_000);
  t.deepEqual(await contentsOf(folder), before);
});

test('a view that differs from the log is named', async (t) => {
  const folder = await service.copy(t);
  change(
    folder,
    `UPDATE "deposit-status" SET view = replace(view, '"status":"done"', '"status":"failed"') WHERE key = '1'`,
    'views/views.1.sqlite',
  );
  const { code, out } = await runScript(folder, 'verify', ['--all']);
  t.is(code, 1);
  t.regex(out, /views: The view deposit-status shows 1 otherwise than the log/);
});

test('only the given deposits are verified, and an unknown one is reported', async (t) => {
  const folder = await service.copy(t);
  const { findings, report } = await verified(folder, { what: [1, 4, 99] });
  t.deepEqual(findings, [
    { check: 'log', code: 'DEPOSIT_UNKNOWN', text: 'Deposit 99 not found in the event log.' },
  ]);
  t.is(report.counts.deposits, 2);

  await writeFile(path.join(folder, 'event-log.sqlite'), 'a text');
  const unread = await verified(folder, { what: [1] });
  t.deepEqual(codesOf(unread), ['LOG_UNREADABLE'], 'nothing shows that it is missing');
});

test('changed and missing objects are named with their deposits', async (t) => {
  const folder = await service.copy(t);
  const [large = '', piped = ''] = await largeObjects(folder);
  await flip(large, 1000);
  await rm(piped);
  execFileSync('mkfifo', [piped]); // no caller reads its output
  const small = rows(
    folder,
    `SELECT sha256 FROM small_object WHERE CAST(bytes AS TEXT) NOT LIKE '%<entry%' ORDER BY id LIMIT 2`,
    'archives/small.sqlite',
  );
  const [changed, removed] = small.map(({ sha256 }) => String(sha256)) as [string, string];
  change(
    folder,
    `UPDATE small_object SET bytes = x'00' WHERE sha256 = '${changed}'`,
    'archives/small.sqlite',
  );
  change(folder, `DELETE FROM small_object WHERE sha256 = '${removed}'`, 'archives/small.sqlite');
  const { findings, report } = await verified(folder);
  const objects = findings.filter(({ check }) => check === 'objects');
  t.deepEqual(Object.fromEntries(objects.map(({ object = '', code }) => [object, code])), {
    [changed]: 'OBJECT_CORRUPT',
    [removed]: 'OBJECT_MISSING',
    [path.basename(large)]: 'OBJECT_CORRUPT',
    [path.basename(piped)]: 'OBJECT_MISSING',
  });
  t.true(objects.every(({ stream, text }) => stream !== undefined && text.includes(stream)));
  t.truthy(report.firstBadObject);
  // Every entry of these deposits is the same object: all deposits that need it are named.
  const [row] = rows(
    folder,
    `SELECT sha256 FROM small_object WHERE CAST(bytes AS TEXT) LIKE '%<entry%'`,
    'archives/small.sqlite',
  );
  const entry = String(row?.['sha256']);
  change(folder, `DELETE FROM small_object WHERE sha256 = '${entry}'`, 'archives/small.sqlite');
  const streams = (await verified(folder)).findings.filter(({ object }) => object === entry);
  t.is(new Set(streams.map(({ stream }) => stream)).size, 14);
});

test('a corrupt object that no event names is reported, an intact one is not', async (t) => {
  const folder = await service.copy(t);
  const { archiveStore, dataDir } = configOf(folder);
  {
    await using store = await openStore({ archiveStore, dataDir });
    for (const fill of ['a', 'b']) await store.put(chunks(Buffer.alloc(100_000, fill)));
  }
  t.deepEqual(codesOf(await verified(folder)), []);
  const orphan = createHash('sha256').update(Buffer.alloc(100_000, 'a')).digest('hex');
  await flip((await largeObjects(folder)).find((file) => file.endsWith(orphan)) ?? '', 5);
  const { findings } = await verified(folder);
  t.like(findings, [{ code: 'OBJECT_CORRUPT', object: orphan }]);
});

test('a row whose name is no digest is found once, also if the name is empty', async (t) => {
  const folder = await service.copy(t);
  change(
    folder,
    `INSERT INTO small_object (sha256, stored_at, bytes) VALUES ('', 0, x'')`,
    'archives/small.sqlite',
  );
  t.deepEqual(codesOf(await verified(folder)), ['FILE_DAMAGED']);
});

test('a file whose object is a row, too, is read, and named if it is corrupt', async (t) => {
  const folder = await service.copy(t);
  const [row] = rows(folder, 'SELECT sha256, bytes FROM small_object LIMIT 1', 'archives/small.sqlite');
  const sha256 = String(row?.['sha256']);
  const file = path.join(folder, 'archives/v1/sha256', sha256.slice(0, 2), sha256.slice(2, 4), sha256);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, row?.['bytes'] as Uint8Array);
  t.deepEqual(codesOf(await verified(folder)), []);
  await writeFile(file, 'others');
  const { findings } = await verified(folder);
  t.like(findings, [{ code: 'FILE_DAMAGED', file }]);
  t.regex(
    findings[0]?.text ?? '',
    /: its bytes are others; small\.sqlite has this object, too, so the file is/,
  );
  t.is(findings.length, 1);
});

test('unexpected files of the store are named, and are no objects', async (t) => {
  const folder = await service.copy(t);
  const [large = ''] = await largeObjects(folder);
  const sha256 = path.basename(large);
  const root = path.join(folder, 'archives/v1/sha256');
  const [otherFolder, top] = [path.join(root, 'zz', sha256), path.join(root, sha256)];
  const wrongPair = path.join(root, sha256.slice(0, 2), sha256.startsWith('00', 2) ? '01' : '00', sha256);
  for (const place of [path.dirname(otherFolder), path.dirname(wrongPair)]) await mkdir(place);
  await copyFile(large, top);
  await copyFile(large, otherFolder);
  await rename(large, wrongPair);
  await writeFile(`${wrongPair}.bak`, '');
  const { findings } = await verified(folder);
  const misplaced = findings.filter(({ check }) => check === 'files');
  t.is(misplaced.length, 4);
  for (const place of [top, path.dirname(otherFolder), wrongPair, `${wrongPair}.bak`])
    t.true(
      misplaced.some(({ file }) => file === place),
      place,
    );
  t.true(misplaced.every(({ code, text }) => code === 'FILE_DAMAGED' && text.includes('is never read')));
  t.true(findings.some(({ code, object }) => code === 'OBJECT_MISSING' && object === sha256));
  const { archiveStore, dataDir } = configOf(folder);
  await using store = await openStore({ archiveStore, dataDir });
  for await (const object of store.list()) t.not(object.sha256, sha256);
});

test('every changed event of the file is named, whatever was done to the others', async (t) => {
  const folder = await service.copy(t);
  const changes = [
    [`metadata = replace(metadata, '"occurredAt":"2', '"occurredAt":"3')`, 'HASH_WRONG'],
    [`data = substr(data, 2)`, 'EVENT_UNREADABLE'],
    [`data = ' ' || data`, 'EVENT_UNREADABLE'],
    [
      `data = '{"a":' || replace(hex(zeroblob(30000)), '00', '[') || replace(hex(zeroblob(30000)), '00', ']') || '}'`,
      'EVENT_UNREADABLE',
    ],
    [`id = x'00'`, 'EVENT_UNREADABLE'],
    [`stream = 999`, 'EVENT_UNREADABLE'],
    [`revision = 99`, 'REVISION_WRONG'],
    [`metadata = json_remove(metadata, '$.hash')`, 'NOT_SEALED'],
    [`type = 'Nonsense'`, 'TYPE_UNKNOWN'],
  ] as const;
  const deposits = `SELECT position FROM events JOIN streams ON streams.id = events.stream
    WHERE name LIKE 'deposit-%' ORDER BY position`;
  const positions = rows(folder, deposits).map(({ position }) => Number(position));
  const placeOf = (index: number) => positions[5 + index * 6] ?? 0;
  for (const [index, [sql]] of changes.entries()) {
    change(folder, `UPDATE events SET ${sql} WHERE position = ${placeOf(index)}`);
  }
  const removed = placeOf(changes.length);
  change(folder, `DELETE FROM events WHERE position IN (${removed}, ${removed + 1})`);
  const { findings, report } = await verified(folder, { what: 'log' });
  const found = (position: number) => findings.filter((finding) => finding.position === toPosition(position));
  for (const [index, [sql, code]] of changes.entries()) {
    t.true(
      found(placeOf(index)).some((finding) => finding.code === code),
      sql,
    );
  }
  t.regex(found(removed)[0]?.text ?? '', /is missing, with the 1 events after it/);
  t.is(report.firstBadEvent?.position, toPosition(placeOf(0)));
});

test('identifiers that do not match the archives are found even with a valid chain', async (t) => {
  const folder = await service.copy(t);
  const [loaded] = rows(
    folder,
    `SELECT position FROM events JOIN streams ON streams.id = events.stream
     WHERE name = 'deposit-1' AND type = 'DepositLoaded'`,
  );
  const position = Number(loaded?.['position']);
  reseal(folder, position, (data) => ({ ...data, directory: '0'.repeat(40) }));
  const { findings } = await verified(folder, { what: [1] });
  t.like(findings, [{ check: 'identifiers', code: 'IDENTIFIERS_DIFFER', stream: 'deposit-1' }]);
  t.regex(findings[0]?.text ?? '', /directory "0{40}", not "[0-9a-f]{40}"\.$/);
});

test('a length or an MD5 that does not match the bytes is found even with a valid chain', async (t) => {
  const folder = await service.copy(t);
  const [added] = rows(
    folder,
    `SELECT position, data FROM events JOIN streams ON streams.id = events.stream
     WHERE name = 'deposit-1' AND type = 'ArchiveAdded'`,
  );
  const { archive } = JSON.parse(String(added?.['data']));
  const { archiveStore, dataDir } = configOf(folder);
  await using store = await openStore({ archiveStore, dataDir });
  const md5 = createHash('md5')
    .update(await buffer((await store.get(archive.sha256)).body))
    .digest('hex');
  const findingsWith = async (wrong: JsonObject) => {
    reseal(folder, Number(added?.['position']), (data) => ({ ...data, archive: { ...archive, ...wrong } }));
    const { findings } = await verified(folder, { what: [1] }); // the events after it are not resealed
    const objects = findings.filter(({ check }) => check === 'objects');
    return objects.map(({ text }) => text.replace(/^.*position \w+/, '…'));
  };
  t.deepEqual(await findingsWith({ md5 }), []);
  t.deepEqual(await findingsWith({ md5: '0'.repeat(32) }), [
    `…) names the MD5 ${'0'.repeat(32)} for the object ${archive.sha256}, which has another.`,
  ]);
  t.deepEqual(await findingsWith({ length: archive.length + 1 }), [
    `…) names ${archive.length + 1} bytes for the object ${archive.sha256} of ${archive.length}.`,
  ]);
});

test('any changed byte is named, unless it is unused', async (t) => {
  const folder = await service.copy(t);
  const random = seeded(7);
  const files = [
    path.join(folder, 'event-log.sqlite'),
    path.join(folder, 'archives', 'small.sqlite'),
    path.join(folder, 'event-log.sqlite.head'),
  ];
  let named = 0;
  for (let number = 0; number < 4; number += 1) {
    const file = files[number % 3] as string;
    const original = path.join(service.folder, path.relative(folder, file));
    const offset = Math.floor(random() * (await stat(original)).size);
    await copyFile(original, file);
    await Promise.all(['-wal', '-shm'].map((suffix) => rm(file + suffix, { force: true })));
    await flip(file, offset, random);
    const { findings } = await verified(folder);
    if (findings.length > 0) named += 1;
    else t.deepEqual(contentOf(file), contentOf(original), `byte ${offset} of ${file}`);
    await copyFile(original, file);
  }
  t.true(named > 0, `${named} named`);
});

test('files that are no databases or missing cause findings', async (t) => {
  const folder = await service.copy(t);
  await writeFile(path.join(folder, 'event-log.sqlite'), 'a text');
  await rm(path.join(folder, 'archives'), { recursive: true });
  const codes = new Set(codesOf(await verified(folder)));
  t.deepEqual(codes, new Set(['FILE_DAMAGED', 'LOG_UNREADABLE', 'STORE_UNREADABLE']));
});

test('the chain is recomputed in every log, and duplicate ids and unreserved deposit ids are found', async (t) => {
  await using log = new MemoryEventLog();
  const reserved = event('DepositIdsReserved', { first: 1, count: 1 });
  await log.append('ids-deposit', 'none', sealAfter('ids-deposit', 'none', null, [reserved]));
  const twice = event('DepositCreated', { depositId: 7 });
  const [first, second] = sealAfter('deposit-7', 'none', null, [twice, { ...twice, data: { depositId: 8 } }]);
  const spelt = event('DepositCreated', { depositId: 1 });
  await log.append('deposit-01', 'none', sealAfter('deposit-01', 'none', null, [spelt]));
  await log.append('deposit-7', 'none', [first as never]);
  await log.append('deposit-7', 0, [{ ...(second as never as object), metadata: { hash: 'x' } } as never]);
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  const audit = new PlainLogAudit(log);
  const watchers = [chainCheck(report), eventIdCheck(report, audit), depositIdCheck(report)];
  await logPass(report, audit.events(), watchers);
  t.deepEqual(
    findings.map(({ code, revision }) => [code, revision]),
    [
      ['ID_NOT_HANDED_OUT', 0],
      ['ID_NOT_HANDED_OUT', 0],
      ['HASH_WRONG', 1],
      ['CHAIN_BROKEN', 1],
      ['ID_REPEATED', 1],
      ['OTHER_DEPOSIT', 1],
    ],
  );
});

test('an unknown event type is found in every kind of stream with rules', async (t) => {
  await using log = new MemoryEventLog();
  for (const { prefix } of aggregates) await log.append(`${prefix}1`, 'none', [event('Nonsense', {})]);
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  await logPass(report, new PlainLogAudit(log).events(), [codecCheck(report)]);
  t.deepEqual(
    findings.map(({ code, stream }) => [code, stream]),
    aggregates.map(({ prefix }) => ['TYPE_UNKNOWN', `${prefix}1`]),
  );
  t.regex(findings[0]?.text ?? '', /is unknown to this release: There is no event type Nonsense\.$/);
});

test('streams that no release has written are found, each once, and those of every fixture are known', async (t) => {
  await using log = new MemoryEventLog();
  const unknown = [
    'Deposit-1',
    'deposit-01',
    'deposit-',
    'client-',
    'notifications-x',
    'notes',
    'copy-unfinished',
  ];
  const nodes = ['nodes', 'view-snapshots', 'archive-store', `attempts-loader-retries-${randomUUID()}`];
  for (const stream of [...unknown, ...nodes])
    await log.append(stream, 'none', [event('Nonsense', {}), event('Nonsense', {})]);
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  await logPass(report, new PlainLogAudit(log).events(), [streamNameCheck(report)]);
  t.deepEqual(
    findings.map(({ code, stream }) => [code, stream]),
    unknown.map((stream) => ['STREAM_UNKNOWN', stream]),
  );
  const fixtures = path.join(import.meta.dirname, '../fixtures');
  const stored = globSync('*/*/*.ndjson.gz', { cwd: fixtures }).flatMap((file) =>
    gunzipSync(readFileSync(path.join(fixtures, file)))
      .toString()
      .trimEnd()
      .split('\n'),
  );
  const streams = stored.map(
    (line) => (JSON.parse(line) as { readonly stream?: string }).stream ?? 'anchors',
  );
  t.true(streams.length > 1000);
  t.deepEqual(
    streams.filter((stream) => !stream.startsWith('$') && !isStreamName(stream)),
    [],
  );
});

test('findings above the limit are counted, not listed', async (t) => {
  const folder = await service.copy(t);
  change(folder, `UPDATE events SET data = replace(data, 'a', 'b')`);
  const { findings, report } = await verified(folder, { what: 'log' }, 5);
  t.is(findings.length, 5);
  t.true(report.findings > 100);
});

test('the command prints findings as lines, with its exit code', async (t) => {
  const folder = await service.copy(t);
  const all = await runScript(folder, 'verify', ['--all']);
  t.is(all.code, 0, all.err);
  t.regex(
    all.out,
    /^No external anchors were given.*--anchors\.\nAll proven: \d+ events of 21 streams, \d+ objects .*, the identifiers of 13 deposits, 2 anchors\.\n$/,
  );
  const twice = await runScript(folder, 'verify', ['2', '2']);
  t.is(twice.code, 0, `a deposit named twice is verified once: ${twice.out}`);
  change(folder, `UPDATE events SET metadata = replace(metadata, ':"2', ':"3') WHERE position = 20`);
  const found = await runScript(folder, 'verify', ['--all', '--json']);
  t.is(found.code, 1);
  const lines = jsonLines<{ finding?: Finding }>(found.out);
  t.like(lines[0], { finding: { code: 'HASH_WRONG', position: '0000000000000014' } });
  t.like(lines.at(-1), { summary: { proven: false, first_bad_event: { code: 'HASH_WRONG' } } });
});

test('a single item is printed in the singular', (t) => {
  const report = new Report({ limit: 1, onFinding: () => undefined });
  Object.assign(report.counts, { events: 1, streams: 1, objects: 1, bytes: 2000, deposits: 1, anchors: 1 });
  t.regex(
    summaryText(report),
    /1 event of 1 stream, 1 object \(2,000 bytes\), the identifiers of 1 deposit, 1 anchor\.$/,
  );
});

test('a set of keys contains all added ones while it grows', (t) => {
  const keys = Array.from({ length: 5000 }, (_, number) => createHash('sha256').update(`${number}`).digest());
  const set = new DigestSet(8);
  for (const key of keys) t.true(set.add(key));
  t.true(keys.every((key) => set.has(key) && !set.add(key)));
  t.false(set.has(createHash('sha256').update('another').digest()));
  t.is(set.size, 5000);
});

/** Returns the content without times: no record proves the time at which an object was stored, if it is possible. */
function contentOf(file: string): Readonly<Record<string, string>> {
  const { 'small_object.stored_at': _, ...content } = logicalContent(file);
  return content;
}

function event(type: string, data: JsonObject) {
  return { id: randomUUID(), type, data, metadata: { schemaVersion: 1 } };
}

async function flip(file: string, offset: number, random: () => number = () => 0): Promise<void> {
  const bytes = await readFile(file);
  bytes[offset] = ((bytes[offset] as number) + 1 + Math.floor(random() * 255)) % 256;
  await writeFile(file, bytes);
}

function change(folder: string, sql: string, file = 'event-log.sqlite'): void {
  const database = new DatabaseSync(path.join(folder, file));
  database.exec(sql);
  database.close();
}

function rows(folder: string, sql: string, file = 'event-log.sqlite'): Record<string, unknown>[] {
  const database = new DatabaseSync(path.join(folder, file));
  const found = database.prepare(sql).all();
  database.close();
  return found;
}

/** Changes the last event of a stream so that its chain fits again. */
function reseal(folder: string, position: number, alter: (data: JsonObject) => JsonObject): void {
  const [row] = rows(
    folder,
    `SELECT s.name, e.revision, e.type, e.data, e.metadata, lower(hex(e.id)) AS id
     FROM events e JOIN streams s ON s.id = e.stream WHERE position = ${position}`,
  ) as Record<string, string>[];
  const { name = '', revision, type = '', data = '', metadata = '', id = '' } = row ?? {};
  const { hash: _hash, prevHash, ...rest } = JSON.parse(metadata) as JsonObject;
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const altered = { id: uuid, type, data: alter(JSON.parse(data) as JsonObject), metadata: rest };
  const [sealed] = sealAfter(name, Number(revision) - 1, prevHash as string, [altered]);
  const texts = [sealed?.data, sealed?.metadata].map(
    (part) => `'${JSON.stringify(part).replaceAll("'", "''")}'`,
  );
  change(folder, `UPDATE events SET data = ${texts[0]}, metadata = ${texts[1]} WHERE position = ${position}`);
}

async function largeObjects(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, 'archives', 'v1'), {
    recursive: true,
    withFileTypes: true,
  });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

/** Resolves to the content of every file, without those that SQLite adds to its own. */
async function contentsOf(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/-(shm|wal)$/.test(entry.name));
  const read = files.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return [
      path.relative(folder, file),
      createHash('sha256')
        .update(await readFile(file))
        .digest('hex'),
    ] as const;
  });
  return new Map(await Promise.all(read));
}

async function* chunks(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

test('the heads of more streams than a Map can have are stored, however often their arrays grow', (t) => {
  const heads = new StreamHeads(100);
  const hashOf = (revision: number) => hash('sha256', `${revision}`);
  for (let number = 0; number < 600; number += 1) {
    heads.set(`deposit-${number}`, { revision: number, hash: hashOf(number) });
    if (number !== 100) heads.setTime(`deposit-${number}`, 1000 + number);
  }
  heads.set('deposit-0', { revision: 7, hash: null });
  t.is(heads.size, 600);
  t.deepEqual(heads.get('deposit-0'), { revision: 7, hash: null });
  heads.set('deposit-1', { revision: 8, hash: 'no SHA-256' });
  t.deepEqual(heads.get('deposit-1'), { revision: 8, hash: undefined });
  for (const number of [99, 100, 255, 256, 599])
    t.deepEqual(heads.get(`deposit-${number}`), { revision: number, hash: hashOf(number) });
  t.deepEqual(
    [99, 100, 255, 599, 600].map((number) => heads.timeOf(`deposit-${number}`)),
    [1099, Number.NaN, 1255, 1599, Number.NaN],
  );
  t.is(heads.get('deposit-600'), undefined);
});
