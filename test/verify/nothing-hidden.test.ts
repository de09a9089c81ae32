import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { everyView } from '../../projections/every-view.ts';
import type { RecordedEvent } from '../../src/event-log/event-log.ts';
import { PlainLogAudit } from '../../src/event-log/integrity/log-audit.ts';
import { fingerprint, publicKeyOf } from '../../src/modules/anchors/anchor.ts';
import { publicAnchorKey } from '../../src/modules/anchors/anchor-key.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { objectCheck } from '../../src/operations/verify/checks/object.ts';
import { ObjectProofs } from '../../src/operations/verify/checks/object-proofs.ts';
import { logPass } from '../../src/operations/verify/log-pass.ts';
import { type Finding, Report } from '../../src/operations/verify/report.ts';
import { ResumePoint } from '../../src/operations/verify/resume-point.ts';
import { viewsCheck } from '../../src/operations/verify/views-check.ts';
import { openStoreAudit } from '../../src/service/backends/open-audits.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { openStore } from '../../src/service/backends/open-store.ts';
import { viewDirectory } from '../../src/service/backends/view-directory.ts';
import { ControlClient } from '../../src/service/operator-port/control-client.ts';
import { OperatorServer } from '../../src/service/operator-port/operator-server.ts';
import { goOnBeforeTheFirst, leaveJournal, rewriteStream } from '../../testing/event-log/tampering.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { until } from '../../testing/processes/until.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { auditedService, configOf, verified } from './audited-service.ts';

const service = auditedService(test, 9);

test('a journal that SQLite would write into a file is refused by all readers and by a start', async (t) => {
  const folder = await service.copy(t);
  const forged = await service.copy(t);
  rewriteStream(path.join(forged, 'event-log.sqlite'));
  const notOurs = (file: string) =>
    new RegExp(
      `${file}-journal is not of this service, and SQLite would write it into \\S+: move it to another`,
    );
  for (const name of ['event-log.sqlite', 'archives/small.sqlite']) {
    const file = path.join(folder, name);
    const before = await readFile(file);
    leaveJournal(file, path.join(forged, name));
    for (const [command, ...args] of [['verify', '--all'], ['history', '1'], ['../src/main']] as const) {
      if (command === 'history' && name !== 'event-log.sqlite') continue;
      const { code, out, err } = await runScript(folder, command, args);
      t.deepEqual([code, err.trimEnd().split('\n').length], [command === '../src/main' ? 2 : 1, 1], err);
      t.regex(err, notOurs(name), `${command}: ${out}`);
    }
    t.deepEqual(await readFile(file), before);
    await rm(`${file}-journal`);
  }
  const views = path.join(folder, 'views', 'views.1.sqlite');
  leaveJournal(views, path.join(forged, 'views', 'views.1.sqlite'));
  const { texts } = await viewsOf(folder);
  t.is(texts.length, 1);
  t.regex(texts[0] ?? '', notOurs('views.1.sqlite'));
  t.notRegex(texts[0] ?? '', /\.;/);
});

test('a view that cannot be compared is named, as a finding if no service can cause this', async (t) => {
  const place = (folder: string, ...names: string[]) => path.join(folder, 'views', ...names);
  const about = (sql: string) => (folder: string) => change(place(folder, 'views.1.sqlite'), sql);
  const none = { texts: [], notes: [] };
  const untouched = await viewsOf(await service.copy(t));
  t.deepEqual(untouched, none);
  const cases: readonly (readonly [
    string,
    (folder: string) => unknown,
    { readonly texts?: readonly RegExp[]; readonly notes?: readonly RegExp[] },
  ])[] = [
    [
      'another version',
      about(`UPDATE view_versions SET version = version - 1 WHERE name = 'client-logins'`),
      {
        notes: [/^The view client-logins was not compared: it is of version \d+, where .*starts\.$/],
      },
    ],
    [
      'a version that only a newer release has',
      about(`UPDATE view_versions SET version = version + 1 WHERE name = 'client-logins'`),
      {
        texts: [
          /^The view client-logins is corrupt: it is of version 2, where this release has version 1; a newer release has built it, or the file was changed; /,
        ],
      },
    ],
    [
      'another log',
      about(`UPDATE about SET origin = 'elsewhere'`),
      { notes: [/^No view was compared: the file says that it is of another log, elsewhere /] },
    ],
    [
      'the same, where the positions look like those of this log',
      about(`UPDATE about SET last_seen = json_set(last_seen, '$.id', 'another')`),
      { notes: [/^No view was compared: they are of another log, as after a restore: /] },
    ],
    [
      'no position',
      about('UPDATE about SET last_seen = NULL'),
      {
        texts: [
          /^The file of the views views\.1\.sqlite is corrupt: it holds \d+ entries but no position in the log/,
        ],
      },
    ],
    [
      'empty',
      about(
        `UPDATE about SET last_seen = NULL; ${everyView.map(({ name }) => `DELETE FROM "${name}"`).join(';')}`,
      ),
      { notes: [/^No view was compared: a service has just begun to build them/] },
    ],
    [
      'no word of itself',
      about('DELETE FROM about'),
      { texts: [/views\.1\.sqlite is corrupt: it does not say/] },
    ],
    [
      'a view that is not there',
      about(`DELETE FROM view_versions WHERE name = 'client-logins'`),
      {
        notes: [
          /^The view client-logins was not compared: it does not exist: a service that uses it builds it/,
        ],
      },
    ],
    [
      'a generation that is not there',
      (folder) => writeFile(place(folder, 'current.json'), '{"views":9}'),
      { texts: [/views\.9\.sqlite is corrupt: the file of generation 9, .* while generation 1 is there/] },
    ],
    [
      'what a rebuild has begun where no view was in use',
      (folder) => rename(place(folder, 'views.1.sqlite'), place(folder, 'views.2.sqlite')),
      {
        notes: [
          /^No view was compared: they do not exist, only those of an unfinished rebuild: the service builds them when it starts\.$/,
          /^Generation 2 of the views was not compared: /,
        ],
      },
    ],
    [
      'the same with an invalid current.json',
      async (folder) => {
        await rename(place(folder, 'views.1.sqlite'), place(folder, 'views.2.sqlite'));
        await writeFile(place(folder, 'current.json'), '{"views":');
      },
      {
        texts: [/views\.1\.sqlite is corrupt: the file of generation 1, .* while generation 2 is there/],
        notes: [/^Generation 2 of the views was not compared: /],
      },
    ],
    [
      'generations that only come after others were in use, and nothing names them',
      async (folder) => {
        await copyFile(place(folder, 'views.1.sqlite'), place(folder, 'views.2.sqlite'));
        await rename(place(folder, 'views.1.sqlite'), place(folder, 'views.3.sqlite'));
      },
      {
        texts: [/views\.1\.sqlite is corrupt: the file of generation 1, .* the generations 2, 3 are there/],
        notes: [/^Generation 2 of the views /, /^Generation 3 of the views /],
      },
    ],
    [
      'a later generation next to it',
      (folder) => copyFile(place(folder, 'views.1.sqlite'), place(folder, 'views.2.sqlite')),
      { notes: [/^Generation 2 of the views was not compared: /] },
    ],
    [
      'not built yet',
      (folder) => rm(place(folder, 'views.1.sqlite')),
      { notes: [/^No view was compared: they do not exist/] },
    ],
    [
      'no views at all',
      (folder) => rm(place(folder), { recursive: true }),
      { notes: [/^No view was compared/] },
    ],
  ];
  for (const [what, alter, { texts = [], notes = [] }] of cases) {
    const folder = await service.copy(t);
    about(`INSERT INTO "client-logins" SELECT 'mallory', view FROM "client-logins" LIMIT 1`)(folder);
    await alter(folder);
    const found = await viewsOf(folder);
    // The inserted rows are reported if the view could be compared.
    const others = found.texts.filter((text) => !text.includes('shows mallory'));
    for (const [index, text] of texts.entries()) t.regex(others[index] ?? '', text, what);
    for (const [index, text] of notes.entries()) t.regex(found.notes[index] ?? '', text, what);
    t.deepEqual([others.length, found.notes.length], [texts.length, notes.length], what);
  }
});

test('a view that a running service has built is a finding if it cannot be compared', async (t) => {
  const folder = await service.copy(t);
  await using running = await RunningService.startIn(folder);
  await until(async () => (await runScript(folder, 'verify', ['--all'])).code === 0);
  const file = path.join(folder, 'views', 'views.1.sqlite');
  for (const [sql, back, text] of [
    [
      'SET version = version - 1',
      'SET version = version + 1',
      /client-logins is corrupt: it is of version 0, .*built it/,
    ],
    [
      `SET name = 'other'`,
      `SET name = 'client-logins'`,
      /client-logins is corrupt: it does not exist; the running/,
    ],
  ] as const) {
    change(file, `UPDATE view_versions ${sql} WHERE name = 'client-logins'`);
    const { code, out } = await runScript(folder, 'verify', ['--all']);
    t.is(code, 1);
    t.regex(out, text);
    change(file, `UPDATE view_versions ${back} WHERE name IN ('client-logins', 'other')`);
  }
  const before = found(file, 'SELECT last_seen AS n FROM about') as string;
  for (const [sql, text] of [
    [`origin = 'elsewhere'`, /is corrupt: the file says that it is of another log, .*; the running service/],
    [
      `origin = 'sqlite', last_seen = json_set(last_seen, '$.id', 'x')`,
      /is corrupt: the log does not have the event/,
    ],
  ] as const) {
    change(file, `UPDATE about SET ${sql}`);
    t.regex((await runScript(folder, 'verify', ['--all'])).out, text);
  }
  change(file, `UPDATE about SET last_seen = '${before}'`);
  t.is((await runScript(folder, 'verify', ['--all'])).code, 0);
  await running.stop();
});

test('a view of another version is no finding while the service that has built it runs', async (t) => {
  const folder = await service.copy(t);
  const running = await RunningService.startIn(folder);
  const state = await (await ControlClient.find(folder))?.state();
  await running.stop();
  const views = state?.views.map((view) => ({ ...view, version: view.version - 1 }));
  const routes = { 'GET /state': async () => ({ ...state, views }) };
  await using _older = await OperatorServer.listen({ host: '127.0.0.1', port: 0, dataDir: folder, routes });
  change(path.join(folder, 'views', 'views.1.sqlite'), 'UPDATE view_versions SET version = version - 1');
  const { code, out } = await runScript(folder, 'verify', ['--all']);
  t.is(code, 0, out);
  t.regex(out, /^The view client-logins was not compared: it is of version 0, /m);
});

test('a log with events but without its head file is a finding, an empty log is not', async (t) => {
  const folder = await service.copy(t);
  const head = path.join(folder, 'event-log.sqlite.head');
  for (const lose of [() => rm(head), () => writeFile(head, '')]) {
    await lose();
    const { findings } = await verified(folder, { what: 'log' });
    t.deepEqual(
      findings.map(({ code, file }) => [code, file]),
      [['FILE_DAMAGED', head]],
    );
    t.regex(findings[0]?.text ?? '', /is missing or empty although the log has events.*[^.]\.$/);
  }
  const cut = await service.copy(t);
  change(
    path.join(cut, 'event-log.sqlite'),
    'DELETE FROM events WHERE position = (SELECT max(position) FROM events)',
  );
  t.regex(
    (await verified(cut, { what: 'log' })).findings[0]?.text ?? '',
    /\.head records \d+\. Restore it from a backup\.$/,
    'one full stop',
  );
  change(path.join(folder, 'event-log.sqlite'), 'DELETE FROM events; DELETE FROM streams');
  t.deepEqual((await verified(folder, { what: 'log' })).findings, []);
});

test('an event before the first position, visible only in its stream, is found and not exported', async (t) => {
  const folder = await service.copy(t);
  const stream = goOnBeforeTheFirst(path.join(folder, 'event-log.sqlite'));
  for (const what of ['log', [Number(stream.replace('deposit-', ''))]] as const) {
    const { findings } = await verified(folder, { what });
    t.like(findings[0], { check: 'log', code: 'EVENT_UNREADABLE', stream });
    t.regex(findings[0]?.text ?? '', /is before the first position of the log\.$/);
  }
  const exported = await runScript(folder, 'export', []);
  t.is(exported.code, 1);
  t.regex(
    exported.err,
    /^The event at position [^\n]* is before the first position[^\n]*\n$/,
    'reported once',
  );
});

test('verify notes a log and a store that do not belong together, on which no service would start', async (t) => {
  const idFile = (folder: string) => path.join(folder, 'archives', 'store-id');
  const alterations: readonly (readonly [(folder: string) => unknown, RegExp])[] = [
    [(folder) => rm(idFile(folder)), /, but the archive store has no id\./],
    [(folder) => writeFile(idFile(folder), `${randomUUID()}\n`), /, but the archive store has the id /],
    [(folder) => writeFile(idFile(folder), 'x'), /store-id, which contains the id .* is corrupt/],
  ];
  for (const [alter, note] of alterations) {
    const folder = await service.copy(t);
    await alter(folder);
    const { report } = await verified(folder);
    t.is(report.findings, 0);
    t.regex(report.notes[0] ?? '', /^No service would start on this log and this store: /);
    t.regex(report.notes[0] ?? '', note);
  }
});

test('verify without external anchors reports which guarantees are missing', async (t) => {
  const folder = await service.copy(t);
  const notesOf = async (...args: Parameters<typeof verified>) => (await verified(...args)).report.notes;
  t.regex(
    (await notesOf(folder)).join(),
    /^No external anchors were given, so a truncated .* log would not be noticed/,
  );
  t.regex((await notesOf(folder, { what: [1] })).join(), /Each deposit was verified by itself/);
  const { anchorFile, anchorKeyFile } = configOf(folder);
  const anchorKeys = [await keyOf(anchorKeyFile)];
  t.deepEqual(await notesOf(folder, { what: 'log', anchorFile: anchorFile ?? '', anchorKeys }), []);
});

test('anchors of another key are reported before those of this folder, and found after them', async (t) => {
  const folder = await service.copy(t);
  const config = configOf(folder);
  const renewed = path.join(folder, 'renewed.pem');
  {
    await using log = await openLog(config);
    const stream = 'elsewhere';
    const event = { id: randomUUID(), type: 'Noted', data: {}, metadata: { schemaVersion: 1 } };
    await log.append(stream, 'none', [event]);
    await makeAnchor(log, { ...config, anchorKeyFile: renewed, anchorFile: null });
  }
  const foreign = async (ownAnchorKey: string | undefined, keys: readonly string[] = []) => {
    const { findings, report } = await verified(folder, {
      what: 'log',
      anchorKeys: await Promise.all(keys.map(keyOf)),
      ...(ownAnchorKey !== undefined && { ownAnchorKey: await keyOf(ownAnchorKey) }),
    });
    const codes = findings.filter(({ check }) => check === 'anchors').map(({ code }) => code);
    return { codes, notes: report.notes.filter((note) => note.includes('key')) };
  };
  t.deepEqual((await foreign(config.anchorKeyFile)).codes, ['ANCHOR_KEY_FOREIGN']);
  const moved = await foreign(renewed);
  t.deepEqual(moved.codes, []);
  t.is(moved.notes.length, 1);
  t.regex(
    moved.notes[0] ?? '',
    /^Another key than that of this data folder, .* signed 2 of them, the last over \d+ events /,
  );
  for (const file of [config.anchorKeyFile, renewed])
    t.true(moved.notes[0]?.includes(fingerprint(publicKeyOf(await keyOf(file)))));
  t.deepEqual((await foreign(undefined, [renewed])).codes, ['ANCHOR_KEY_FOREIGN', 'ANCHOR_KEY_FOREIGN']);
  t.deepEqual(await foreign(undefined, [renewed, config.anchorKeyFile]), { codes: [], notes: [] });

  const copy = await service.copy(t);
  const all = await runScript(copy, 'verify', ['--all', '--key', renewed]);
  t.is(all.code, 1);
  t.regex(all.out, /is signed with another key, [0-9a-f]{64}, than [0-9a-f]{64}\./);
  await rm(configOf(copy).anchorKeyFile);
  const without = await runScript(copy, 'verify', ['--all']);
  t.is(without.code, 0, without.out);
  t.regex(without.out, /^The signer of the anchors was not verified: /m);
  const { privateKey } = generateKeyPairSync('x25519');
  const other = privateKey.export({ type: 'pkcs8', format: 'pem' });
  for (const [text, fault] of [
    ['garbage', 'is not an Ed25519 key in PEM.'],
    [other, 'is a key, but not an Ed25519 key.'],
  ] as const) {
    await writeFile(configOf(copy).anchorKeyFile, text);
    const { code, out, err } = await runScript(copy, 'verify', ['--all']);
    t.is(code, 1, err);
    t.true(out.startsWith(`anchors: ${configOf(copy).anchorKeyFile} ${fault}\n`), out);
    t.regex(out, /^1 problem found/m, 'and everything else was verified');
  }
  t.is((await runScript(copy, 'verify', ['1', '--key', renewed])).code, 2);
});

test('faulty objects beyond the limit are counted, and read again by a resumed run', async (t) => {
  const folder = await service.copy(t);
  const config = configOf(folder);
  const small = path.join(folder, 'archives', 'small.sqlite');
  change(small, `UPDATE small_object SET bytes = zeroblob(length(bytes))`);
  const { findings, report } = await verified(folder, {}, 5);
  const faulty = count(small, 'SELECT count(*) AS n FROM small_object');
  t.true(faulty > 20);
  t.is(findings.length, 5);
  t.is(report.counts.faultyObjects, faulty);
  t.true(report.findings >= faulty);
  t.regex(
    (await runScript(folder, 'verify', ['--all', '--limit', '5'])).out,
    new RegExp(` ${faulty} faulty ones`),
  );

  const state = path.join(folder, 'state.json');
  await using log = await openLog(config);
  await using store = await openStoreAudit(config.archiveStore, config.dataDir);
  const read = async (resume: ResumePoint, breakAt: number) => {
    const about = silent(5);
    const proofs = new ObjectProofs(store, about);
    const breaking = {
      see: (_event: unknown, number: number) => {
        if (number === breakAt) throw new Error('broken off');
      },
    };
    const audit = new PlainLogAudit(log);
    const watchers = [objectCheck(about, store, proofs, resume), resume, breaking];
    await logPass(about, audit.events(), watchers);
    return about;
  };
  const all = (await read(new ResumePoint(undefined), -1)).counts;
  const broken = read(new ResumePoint(state, undefined, { saveEvery: -1, markEvery: 1 }), all.events);
  await t.throwsAsync(broken, { message: 'broken off' });
  const from = await ResumePoint.interrupted(state);
  t.true((from?.events ?? 0) > all.events / 2);
  const { counts } = await read(new ResumePoint(state, from), -1);
  t.is(counts.faultyObjects, all.faultyObjects);
  t.is(counts.objects + counts.provenBefore, all.objects);
});

test('an object removed before it is read again for its MD5 is missing, not different', async (t) => {
  const config = configOf(await service.copy(t));
  await using log = await openLog(config);
  const [added] = await Array.fromAsync(log.readStream('deposit-1', { from: 1, limit: 1 }));
  const archive = added?.data['archive'] as { sha256: string };
  const naming = (md5: string | null) => ({
    ...added,
    data: { ...added?.data, archive: { ...archive, md5 } },
  });
  await using store = await openStore(config);
  await using audit = await openStoreAudit(config.archiveStore, config.dataDir);
  const found: Finding[] = [];
  const report = new Report({ limit: 5, onFinding: (finding) => found.push(finding) });
  const proofs = new ObjectProofs(audit, report);
  const watcher = objectCheck(report, audit, proofs, new ResumePoint(undefined));
  await watcher.see?.(naming(null) as RecordedEvent, 1);
  await watcher.settled?.();
  await store.remove(archive.sha256);
  await watcher.see?.(naming('0'.repeat(32)) as RecordedEvent, 2);
  t.deepEqual(
    found.map(({ code }) => code),
    ['OBJECT_MISSING'],
  );
});

async function keyOf(file: string): Promise<KeyObject> {
  const key = await publicAnchorKey(file);
  if (!key) throw new Error(`${file} not found.`);
  return key;
}

async function viewsOf(folder: string) {
  const config = configOf(folder);
  const [views, origin] = viewDirectory(config);
  const openLogToRead = () => openLog(config, { readOnly: true });
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  await viewsCheck({ folder: views, origin, openLog: openLogToRead }, () => undefined)(report);
  return { texts: findings.map(({ text }) => text), notes: report.notes };
}

function silent(limit = 0): Report {
  return new Report({ limit, onFinding: () => undefined });
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

function count(file: string, sql: string): number {
  return Number(found(file, sql));
}

function found(file: string, sql: string): unknown {
  const database = new DatabaseSync(file);
  const row = database.prepare(sql).get();
  database.close();
  return row?.['n'];
}
