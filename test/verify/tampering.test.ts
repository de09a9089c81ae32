import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { EventLogUnavailable, type RecordedEvent } from '../../src/event-log/event-log.ts';
import { hashOf } from '../../src/event-log/integrity/hash-chain.ts';
import { PlainLogAudit } from '../../src/event-log/integrity/log-audit.ts';
import { StreamHeads } from '../../src/event-log/integrity/stream-heads.ts';
import { ANCHORS } from '../../src/modules/anchors/anchor.ts';
import { publicAnchorKey } from '../../src/modules/anchors/anchor-key.ts';
import { copyEvents } from '../../src/operations/copy/log-copy.ts';
import { chainCheck } from '../../src/operations/verify/checks/chain.ts';
import { clockCheck } from '../../src/operations/verify/checks/clock.ts';
import { stuckCheck } from '../../src/operations/verify/checks/stuck.ts';
import { ExportTally } from '../../src/operations/verify/export-trailer.ts';
import { exportedEvent, exportedEvents } from '../../src/operations/verify/exported-event.ts';
import { logPass } from '../../src/operations/verify/log-pass.ts';
import { readLines } from '../../src/operations/verify/read-lines.ts';
import { redactedEvent } from '../../src/operations/verify/redacted-event.ts';
import { Report } from '../../src/operations/verify/report.ts';
import { type Interrupted, ResumePoint } from '../../src/operations/verify/resume-point.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { recordSnapshot } from '../../src/views/snapshots/snapshot-records.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import {
  deleteLastEvent,
  leaveJournal,
  removeWithoutTrace,
  rewriteAndForgetAnchors,
  rewriteStream,
} from '../../testing/event-log/tampering.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { auditedService, codesOf, configOf, type Verified, verified } from './audited-service.ts';

const service = auditedService(test, 9);
const CUT = /\nAll proven\. Not compared: the last line of FILE, which a crash cut off/;
const OTHER_KEY = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
const VERIFIER = path.join(import.meta.dirname, '../../docs/auditing/verify.py');

test('changes by the owner of the log are detected with external anchors', async (t) => {
  const folder = await service.copy(t);
  t.deepEqual(codesOf(await againstAnchors(folder)), []);
  for (const [change, code] of [
    [deleteLastEvent, 'ANCHOR_DOES_NOT_HOLD'],
    [rewriteStream, 'ANCHOR_DOES_NOT_HOLD'],
    [removeWithoutTrace, 'ANCHOR_DOES_NOT_HOLD'],
    [rewriteAndForgetAnchors, 'EVENTS_REMOVED'],
  ] as const) {
    const altered = await service.copy(t);
    const stream = change(path.join(altered, 'event-log.sqlite'));
    const { findings } = await againstAnchors(altered, folder);
    const found = findings.filter((finding) => finding.code === code);
    t.is(found.length, 1, change.name);
    t.true(found[0]?.streams?.includes(stream), `${change.name}: ${found[0]?.text}`);
  }
  const clean = await service.copy(t);
  rewriteAndForgetAnchors(path.join(clean, 'event-log.sqlite'));
  t.deepEqual(codesOf(await verified(clean, { what: 'log' })), [], 'without them nothing is found');
});

test('the anchor and verify commands work together, with an external key', async (t) => {
  const folder = await service.copy(t);
  const elsewhere = path.join(folder, 'elsewhere.ndjson');
  const anchored = await runScript(folder, 'anchor', ['--file', elsewhere, '--json']);
  t.is(anchored.code, 0, anchored.err);
  t.like(JSON.parse(anchored.out), { made: false, written: 2 });
  const { out: pem } = await runScript(folder, 'anchor', ['--public-key']);
  t.regex(pem, /^-----BEGIN PUBLIC KEY-----/);
  await writeFile(path.join(folder, 'public.pem'), pem);
  const args = ['--anchors', elsewhere, '--key', path.join(folder, 'public.pem')];
  const proven = await runScript(folder, 'verify', args);
  t.regex(proven.out, /^All proven: .* 2 anchors\.\n$/);
  await writeFile(path.join(folder, 'public.pem'), `the key before\n${OTHER_KEY}\nand this\n${pem}`);
  t.is((await runScript(folder, 'verify', args)).out, proven.out, 'every key of the file counts');
  const [first = ''] = (await readFile(elsewhere, 'utf8')).split('\n');
  await writeFile(elsewhere, `${first}\n`);
  const { code, out, err } = await runScript(folder, 'verify', args);
  t.is(code, 0);
  t.regex(
    out + err,
    /^The last anchor that is stored elsewhere is of .* It covers none of the [1-9]\d* after it/m,
  );
});

test('the independent Python verifier, if it is installed, has the same results', async (t) => {
  const hasPython =
    spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
  if (!hasPython || spawnSync('openssl', ['version']).status !== 0) return t.pass('it does not exist');
  const kept = await service.copy(t);
  const key = await publicAnchorKey(configOf(kept).anchorKeyFile);
  const pem = path.join(kept, 'public.pem');
  await writeFile(pem, key?.export({ type: 'spki', format: 'pem' }) ?? '');
  const checked = (folder: string, log = path.join(folder, 'event-log.sqlite')) => {
    const elsewhere = ['--anchors', path.join(kept, 'anchors.ndjson'), '--key', pem];
    const args = ['-B', VERIFIER, log, '--archives', path.join(folder, 'archives'), ...elsewhere];
    const env = { ...process.env, PYTHONIOENCODING: 'ascii' };
    return spawnSync('python3', args, { encoding: 'utf8', env });
  };
  const proven =
    /^Read \d+ events, 2 anchors in the log, 2 in FILE, 9 deposits\.\nAll proven\. Not compared: events after the last anchor in FILE: 0, and any that were cut off\.\n$/;
  t.regex(checked(kept).stdout, proven);
  const exported = path.join(kept, 'log.ndjson');
  t.is((await runScript(kept, 'export', ['--output', exported])).code, 0);
  t.regex(checked(kept, exported).stdout, proven);
  const audit = path.join(kept, 'audit.ndjson');
  t.is((await runScript(kept, 'export', ['--audit', '--output', audit])).code, 0);
  const redacted =
    /\nHash not recomputable, since the export is without secrets: 1 of these events\.\nAll proven\. Not compared: the contents of lines without secrets, of which only the hash is known: client-alice revision 0; events after the last anchor in FILE: 0, and any that were cut off\.\n$/;
  t.regex(checked(kept, audit).stdout, redacted);
  const forged = path.join(kept, 'forged.ndjson');
  const lines = await readFile(audit, 'utf8');
  for (const [change, finding] of [
    [lines.replace('"kind":"client"', '"kind":"operator"'), /does not carry the hash of its contents/],
    [lines.replace('"redacted":1,', ''), /does not carry the hash of its contents/],
    [lines.replace('"redacted":1,', '"redacted":2,'), /speaks of 2 lines without secrets, not 1/],
    [
      withSecretNull(lines, 'DepositCreated'),
      /^deposit-1 revision 0: does not carry the hash of its contents$/m,
    ],
    [withSecretNull(lines, 'CollectionGranted'), /^client-alice revision \d+: does not carry the hash/m],
  ] as const) {
    await writeFile(forged, change);
    t.regex(checked(kept, forged).stdout, finding);
  }
  await writeFile(forged, lines.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":${JSON.stringify(pem)}`));
  t.regex(checked(kept, forged).stdout, /needs the object \S+public\.pem, which is missing/);
  const large = await service.copy(t);
  {
    await using log = await openLog(configOf(large));
    const lastSeen = { position: '0000000000000001', id: randomUUID(), stream: 'nodes', revision: 0 };
    const parts = [{ sha256: 'a'.repeat(64), length: 1 }];
    const snapshot = { parts, secret: 'AAAA', origin: 'sqlite', versions: {}, lastSeen };
    t.true(await recordSnapshot(log, snapshot, undefined));
  }
  const ofLarge = path.join(large, 'audit.ndjson');
  t.is((await runScript(large, 'export', ['--audit', '--output', ofLarge])).code, 0);
  t.regex(
    checked(large, ofLarge).stdout,
    /without secrets: 2 of .*\nAll proven\. Not compared: .*: client-alice revision 0, view-snapshots revision 0; /,
  );
  const snapshots = await readFile(ofLarge, 'utf8');
  await writeFile(forged, snapshots.replace('"view-snapshots"', '"view-snapshots-2"'));
  t.regex(checked(large, forged).stdout, /^view-snapshots-2 revision 0: does not carry the hash/m);
  const elsewhere = path.join(kept, 'anchors.ndjson');
  const anchors = await readFile(elsewhere, 'utf8');
  const [first = ''] = anchors.split('\n');
  for (const [content, found] of [
    [
      `${first}\n`,
      /\nAll proven\. Not compared: events after the last anchor in FILE: [1-9]\d*, and any that were cut off\.\n$/,
    ],
    ['', /^.*anchors\.ndjson: has no anchor\nNOT PROVEN/m],
    [anchors.slice(0, -9), CUT],
    [`${anchors.slice(0, -9)}\0\0`, CUT],
    [anchors.slice(0, -1), proven],
    [`${first}\n${anchors.slice(first.length + 1, -9)}\n`, /^line 2 of .*anchors\.ndjson: is not JSON: /m],
  ] as const) {
    await writeFile(elsewhere, content);
    t.regex(checked(kept).stdout, found);
  }
  await writeFile(elsewhere, anchors);
  const whole = await readFile(exported, 'utf8');
  for (const [content, found] of [
    [whole.replace(/.*\n$/, ''), /^the last line: is missing: the file was cut off, or is no export/m],
    [whole.replace('"id"', '"di"'), /^line 1: has more or less than an event$/m],
    [whole.slice(1), /^line 1: is not JSON: /m],
    [whole.replace('"export":1', '"export":2'), /^the last line: is missing: /m],
    [whole.replace('"export":1', '"export":1,"note":"checked"'), /^the last line: is missing: /m],
    [
      whole.replaceAll('"stream":"deposit-1"', '"stream":"deposit-世"'),
      /^deposit-\\u4e16 revision 0: does not carry/m,
    ],
    [
      whole.slice(1).replace('"kind":"client"', '"kind":"operator"'),
      /^line 1: is not JSON: [^]*\n\S+ revision \d+: does not carry the hash of its contents$/m,
    ],
    [
      whole.replaceAll('"stream":"deposit-1"', '"stream":"deposit-1\\u001b[2J\\nAll proven."'),
      /^deposit-1\\x1b\[2J\\nAll proven\. revision 0: does not carry/m,
    ],
  ] as const) {
    await writeFile(forged, content);
    t.regex(checked(kept, forged).stdout, found);
  }
  await writeFile(forged, whole);
  await writeFile(pem, OTHER_KEY + (await readFile(pem, 'utf8')));
  t.regex(checked(kept, forged).stdout, proven, 'the second key of the file counts, too');
  t.regex(
    checked(path.dirname(kept), exported).stdout,
    /^this cannot be read: .* is not the folder of the archives/m,
  );
  for (const change of [rewriteStream, removeWithoutTrace]) {
    const altered = await service.copy(t);
    change(path.join(altered, 'event-log.sqlite'));
    const { stdout, status } = checked(altered);
    t.is(status, 1, change.name);
    t.regex(stdout, /^the anchor over \d+ events in FILE: does not hold/m, change.name);
    t.regex(stdout, /\nNOT PROVEN\. Findings: \d+\.\n$/, change.name);
  }
  const cut = await service.copy(t);
  const log = new DatabaseSync(path.join(cut, 'event-log.sqlite'));
  log.exec(`DELETE FROM events WHERE type = 'AnchorMade' AND position = (SELECT max(position) FROM events)`);
  log.close();
  t.regex(checked(cut).stdout, /^the anchor over \d+ events in FILE: is no longer in the log$/m);
  const altered = await service.copy(t);
  await writeFile(
    exported,
    (await readFile(exported, 'utf8')).replace('"kind":"client"', '"kind":"operator"'),
  );
  t.regex(checked(altered, exported).stdout, /does not carry the hash of its contents/);
  const small = new DatabaseSync(path.join(altered, 'archives', 'small.sqlite'));
  small.exec(`UPDATE small_object SET bytes = zeroblob(9) WHERE id = (SELECT min(id) FROM small_object)`);
  small.close();
  t.regex(checked(altered).stdout, /needs the object \w+, whose bytes are others/);
  for (const name of ['archives/small.sqlite', 'event-log.sqlite']) {
    leaveJournal(path.join(altered, name), path.join(kept, name));
    t.regex(checked(altered).stdout, /^this cannot be read: \S+-journal is not of the service, /, name);
  }
});

/** Returns an export for auditors with a forged event of the type, which poses as one without its secret. */
function withSecretNull(lines: string, type: string): string {
  const line = lines.split('\n').find((one) => one.includes(`"type":"${type}"`)) ?? '';
  const { data, metadata, ...event } = JSON.parse(line) as RecordedEvent;
  const forged = { ...event, data: { ...data, secret: null }, metadata: { ...metadata, by: 'mallory' } };
  return lines.replace(line, exportedEvent(forged)).replace('"redacted":1,', '"redacted":2,');
}

test('an export is an identical log, and a truncated or changed line is refused with its number', async (t) => {
  const folder = await service.copy(t);
  const file = path.join(folder, 'export.ndjson');
  const { code, out, err } = await runScript(folder, 'export', ['--output', file]);
  t.is(code, 0, err);
  const exported = await readFile(file, 'utf8');
  t.is(out, `Exported ${exported.trimEnd().split('\n').length - 1} events into ${file}.\n`);
  const empty = await temporaryFolder(t);
  t.is((await runScript(empty, 'import', [file])).code, 0);
  {
    await using log = await openLog(configOf(empty));
    const again = await Array.fromAsync(log.readAll(), (event) => `${exportedEvent(event)}\n`);
    t.is(again.join(''), exported.replace(/.+\n$/, ''));
  }
  t.deepEqual(codesOf(await againstAnchors(empty, folder)), []);

  const lines = exported.split('\n').slice(0, -1);
  const line = (number: number) => lines[number - 1] ?? '';
  const changed = (number: number, change: (line: string) => string) =>
    `${lines.map((line, index) => (index + 1 === number ? change(line) : line)).join('\n')}\n`;
  const cases: readonly (readonly [string, RegExp])[] = [
    [exported.slice(0, -1), /^Line \d+ is truncated/],
    [exported.slice(0, -30), /^Line \d+ is truncated/],
    [
      changed(7, (line) => line.replace('"occurredAt":"20', '"occurredAt":"21')),
      /^Line 7 .*hash of its contents/,
    ],
    [changed(9, (line) => ` ${line}`), /^Line 9 is not written/],
    [changed(9, () => '{}'), /^Line 9 is not an exported event/],
    [
      changed(9, (line) => resealed(line, { id: 'ABC' })),
      /^Line 9 is not an exported event: its id is missing or wrong/,
    ],
    [changed(9, (line) => resealed(line, { data: [1] })), /^Line 9 is not an exported event: its data is/],
    [
      changed(9, (line) => resealed(line, { type: '\ud800' })),
      /^Line 9 is not an exported event: its type is/,
    ],
    [changed(11, (line) => line.slice(0, 40)), /^Line 11 is not JSON/],
    [changed(11, (line) => line.replace(/"position":"0/, '"position":"1')), /^Line 12 has a position/],
    [
      lines.filter((each) => !each.includes('"DepositCompleted"')).join('\n'),
      /^Line \d+ \(.*is stored where revision/,
    ],
    [changed(7, () => line(lines.length)), /^Line 8 follows the line that says it is the last/],
    [
      changed(7, () => `${'['.repeat(30_000)}${']'.repeat(30_000)}`),
      /^Line 7 is not an exported event: it nests/,
    ],
    [changed(lines.length, (last) => last.replace('}', ',"more":1}')), /^Line \d+ is not an exported event/],
  ];
  for (const [text, message] of cases) {
    await using log = new MemoryEventLog();
    await t.throwsAsync(copyEvents(exportedEvents(bytesOf(text)), log), { code: 'BAD_LINE', message });
  }
  const unspoiled = await temporaryFolder(t);
  await writeFile(
    file,
    changed(9, (line) => ` ${line}`),
  );
  const refused = await runScript(unspoiled, 'import', [file]);
  t.is(refused.code, 1);
  t.regex(refused.err, /^Line 9 is not written as exports are\. Nothing was imported\.\n$/);
  t.false(existsSync(path.join(unspoiled, 'event-log.sqlite')));
});

test('an endless line is refused before it is completely in memory', async (t) => {
  let read = 0;
  async function* endless() {
    yield Buffer.from('first\nsecond\nthi');
    for (;;) {
      read += 1;
      yield Buffer.alloc(100, 'x');
    }
  }
  const found: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const { bytes } of readLines(endless(), 1000)) found.push(bytes.toString());
  };
  await t.throwsAsync(reading(), {
    code: 'LINE_TOO_LONG',
    message: /^Line 3 has no end within 1000 bytes: /,
  });
  t.deepEqual(found, ['first', 'second']);
  t.is(read, 10);
});

test('an export is private; one for auditors has no secrets, the same root, and cannot be imported', async (t) => {
  const folder = await service.copy(t);
  t.is((await runScript(folder, 'client', ['passwd', 'alice'])).code, 0);
  const [whole, audit] = [path.join(folder, 'whole.ndjson'), path.join(folder, 'audit.ndjson')];
  t.is((await runScript(folder, 'export', ['--output', whole])).code, 0);
  t.is((await runScript(folder, 'export', ['--audit', '--output', audit])).code, 0);
  for (const file of [whole, audit]) t.is((await stat(file)).mode & 0o777, 0o600);
  const [all, shown] = [await readFile(whole, 'utf8'), await readFile(audit, 'utf8')];
  const secrets = /"(digest|salt|ciphertext|sealed)"|"secret":\{|"credential":\{/;
  t.regex(all, secrets);
  t.notRegex(shown, secrets);
  const end = (text: string) =>
    JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
  t.deepEqual(end(shown), { ...end(all), redacted: 2 });
  const empty = await temporaryFolder(t);
  const named = /^This export was made with --audit: .* Export again without --audit\.\n$/;
  for (const options of [[], ['--partial']]) {
    const { code, err } = await runScript(empty, 'import', [audit, ...options]);
    t.is(code, 1);
    t.regex(err, named);
  }
  t.false(existsSync(path.join(empty, 'event-log.sqlite')), 'nothing was imported');
  const withoutSecrets = await runScript(folder, 'export', ['--audit', '--stream', 'deposit-3']);
  t.like(end(withoutSecrets.out), { redacted: 0 });
  await t.throwsAsync(Array.fromAsync(exportedEvents(bytesOf(withoutSecrets.out), { partial: true })), {
    code: 'AUDIT_EXPORT',
  });
});

test('the secret of a webhook is redacted, and an event without secrets is unchanged', (t) => {
  const sealed = { scheme: 'aes-256-gcm', bytes: 'AAAA' };
  const event = {
    stream: 'client-alice',
    revision: 1,
    position: '1',
    id: randomUUID(),
    type: 'WebhookSet',
    data: { client: 'alice', url: 'https://alice.example/', secret: sealed },
    metadata: { hash: 'a'.repeat(64) },
  };
  t.deepEqual(redactedEvent(event), { ...event, data: { ...event.data, secret: null } });
  const { secret: _, ...data } = event.data;
  const plain = { ...event, data };
  t.true(redactedEvent(plain) === plain);
});

test('an export with missing lines is refused with the gap', async (t) => {
  const folder = await service.copy(t);
  const { out } = await runScript(folder, 'export', []);
  const lines = out.split('\n').slice(0, -1);
  const [events, last] = [lines.slice(0, -1), lines.at(-1) ?? ''];
  const { root } = JSON.parse(last) as { root: string };
  const withoutStream = events.filter((line) => !line.includes('"stream":"deposit-5"'));
  const other = last.replace(root, 'f'.repeat(64));
  const { out: part } = await runScript(folder, 'export', ['--stream', 'deposit-3']);
  const mistyped = await runScript(folder, 'export', ['--stream', 'deposit3']);
  t.is(mistyped.code, 1);
  t.is(mistyped.err, 'Stream deposit3 not found in the event log.\n');
  const cases: readonly (readonly [string, RegExp])[] = [
    [textOf(lines.slice(0, 30)), /^The export ends after 30 events: the last line.* --partial\.$/],
    ['', /^The export ends after 0 events/],
    [
      textOf([...lines.slice(0, 30), last]),
      new RegExp(`says ${events.length}: ${events.length - 30} are missing`),
    ],
    [textOf([...withoutStream, last]), /has \d+ events where its last line says \d+: \d+ are missing/],
    [textOf([...events, other]), /do not match its last line/],
    [part, /^This is an export of the stream deposit-3 alone, not of the whole log/],
  ];
  for (const [text, message] of cases) {
    const all = Array.fromAsync(exportedEvents(bytesOf(text)));
    await t.throwsAsync(all, { code: 'EXPORT_NOT_WHOLE', message });
  }
  const partial = { partial: true };
  for (const text of [textOf(lines.slice(0, 30)), part])
    t.true((await Array.fromAsync(exportedEvents(bytesOf(text), partial))).length > 0);
  const lacking = Array.fromAsync(exportedEvents(bytesOf(textOf([...lines.slice(0, 30), last])), partial));
  await t.throwsAsync(lacking, { code: 'EXPORT_NOT_WHOLE' });

  const file = path.join(folder, 'part.ndjson');
  await writeFile(file, textOf(lines.slice(0, 30)));
  const empty = await temporaryFolder(t);
  const refused = await runScript(empty, 'import', [file]);
  t.is(refused.code, 1);
  t.regex(refused.err, /^The export ends after 30 events/);
  t.false(existsSync(path.join(empty, 'event-log.sqlite')), 'nothing was accepted');
  t.is((await runScript(empty, 'import', [file, '--partial'])).code, 0);
});

test('an import refuses a pipe in the place of FILE, which it reads twice, and reads it as -', async (t) => {
  const folder = await service.copy(t);
  const file = path.join(folder, 'export.ndjson');
  t.is((await runScript(folder, 'export', ['--output', file])).code, 0);
  const empty = await temporaryFolder(t);
  const script = path.join(import.meta.dirname, '../../scripts/import.ts');
  const piped = (...args: string[]) =>
    spawnSync('sh', ['-c', 'cat "$0" | "$@"', file, process.execPath, script, ...args], {
      encoding: 'utf8',
      env: { ...process.env, DEPOSIT_DATA_DIR: empty },
    });
  for (const options of [[], ['--partial']]) {
    const { status, stdout, stderr } = piped('/dev/stdin', ...options);
    t.deepEqual([status, stdout], [2, ''], stderr);
    t.regex(stderr, /^\/dev\/stdin is not a regular file, .*: give - to read from standard input\.\n$/);
  }
  t.false(existsSync(path.join(empty, 'event-log.sqlite')));
  const { status, stdout, stderr } = piped('-', '--partial');
  t.is(status, 0, stderr);
  t.regex(stdout, /^Imported [1-9]\d* events; /);
});

test('the root of an export equals that of an anchor over the same number of events', async (t) => {
  await using log = await openLog(configOf(await service.copy(t)));
  const events = await Array.fromAsync(log.readAll());
  const anchors = events.filter(({ stream }) => stream === ANCHORS).map(({ data }) => data);
  t.is(anchors.length, 2);
  for (const { events: count, root } of anchors) {
    const tally = new ExportTally();
    for (const event of events.slice(0, count as number)) tally.add(event);
    t.like(JSON.parse(tally.lastLine({})), { export: 1, events: count, root });
  }
});

test('an import continues after existing events, and refuses a log with other contents', async (t) => {
  const lines: string[] = [];
  await using log = await openLog(configOf(await service.copy(t)));
  for await (const event of log.readAll()) lines.push(`${exportedEvent(event)}\n`);
  await using target = new MemoryEventLog();
  const [part, partial] = [lines.slice(0, 20).join(''), { partial: true }];
  t.deepEqual(await copyEvents(exportedEvents(bytesOf(part), partial), target), { found: 0, copied: 20 });
  const whole = exportedEvents(bytesOf(lines.join('')), partial);
  t.deepEqual(await copyEvents(whole, target), { found: 20, copied: lines.length - 20 });
  await t.throwsAsync(copyEvents(exportedEvents(bytesOf(part), partial), target), {
    code: 'LOG_COPY_REFUSED',
  });
});

test('an interrupted verification resumes, only on the same log', async (t) => {
  const folder = await service.copy(t);
  const file = path.join(folder, 'state.json');
  await using log = await openLog(configOf(folder));
  const audit = new PlainLogAudit(log);
  const broken = async (from: Interrupted | undefined, at: number, heldFrom = at): Promise<void> => {
    const resume = new ResumePoint(file, from, { saveEvery: -1, markEvery: 1 });
    const holding = {
      see: (_event: unknown, number: number) => {
        if (number === at) throw new Error('broken off');
        if (number >= heldFrom) resume.hold(number);
        if (number === 3) resume.doAgain('deposit-9');
      },
    };
    const watchers = [holding, resume];
    await t.throwsAsync(logPass(silent(), audit.events(), watchers), { message: 'broken off' });
  };
  for (const text of ['', 'null', '{']) {
    await writeFile(file, text);
    t.is(await ResumePoint.interrupted(file), undefined, `leftover of another test: ${text}`);
  }
  await broken(undefined, 30, 20);
  const state = await ResumePoint.interrupted(file);
  t.like(state, { events: 19, again: ['deposit-9'] });
  const resumed = new ResumePoint(file, state);
  t.deepEqual(
    [resumed.isProven('x', 19), resumed.isProven('x', 20), resumed.isProven('deposit-9', 5)],
    [true, false, false],
  );
  await broken(state, 40);
  t.like(await ResumePoint.interrupted(file), { events: 39 });

  const away = new ResumePoint(file, state);
  async function* unreadable() {
    for await (const record of audit.events()) {
      if (record.kind === 'event' && record.event.revision > 0) throw new EventLogUnavailable('away');
      yield record;
    }
  }
  await logPass(silent(), unreadable(), [away]);
  await away.done();
  t.like(await ResumePoint.interrupted(file), { events: 39 }, 'nor is it over where the log cannot be read');

  const fresh = { ...(state as Interrupted), events: 5 };
  const { findings, report } = await verified(folder, { resume: { file, from: undefined } });
  t.deepEqual(findings, []);
  t.is(await ResumePoint.interrupted(file), undefined, 'nothing is left of a whole one');
  await t.throwsAsync(verified(folder, { resume: { file, from: fresh } }), { code: 'LOG_CHANGED' });
  const long = { ...(state as Interrupted), events: 100_000 };
  await t.throwsAsync(verified(folder, { resume: { file, from: long } }), { code: 'LOG_CHANGED' });
  const second = await verified(folder, { resume: { file, from: state } });
  t.true(second.report.counts.provenBefore > 0);
  t.regex(
    second.report.notes.join(),
    /according to .*state\.json, was not read again\. .* --state stores it elsewhere\./,
  );
  t.notRegex(report.notes.join(), /was not read again/);
  t.is(
    second.report.counts.objects + second.report.counts.deposits + second.report.counts.provenBefore,
    report.counts.objects + report.counts.deposits,
  );
});

test('times that run backwards are reported, in a stream above a second, in the log above a minute', async (t) => {
  await using log = new MemoryEventLog();
  const append = async (stream: string, revision: number, occurredAt: string) => {
    const metadata = { schemaVersion: 1, occurredAt: `2026-03-01T${occurredAt}Z` };
    const event = { id: randomUUID(), type: 'NoteTaken', data: {}, metadata };
    await log.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
  };
  const notes = async (alongLog = true): Promise<readonly string[]> => {
    const [report, heads] = [silent(), new StreamHeads()];
    const audit = new PlainLogAudit(log);
    const watchers = [chainCheck(report, heads), clockCheck(report, heads, { alongLog })];
    await logPass(report, audit.events(), watchers);
    return report.notes;
  };
  await append('a', 0, '12:00:10');
  await append('a', 1, '12:00:09.5');
  await append('b', 0, '11:59:20');
  t.deepEqual(await notes(), [], 'clocks of nodes differ');
  await append('a', 2, '12:00:05');
  t.regex((await notes())[0] ?? '', /^The NoteTaken at revision 2 of a has a time 4\.5 s before/);
  await append('b', 1, '11:59:10');
  t.regex((await notes())[0] ?? '', /the first of 2 such places/);
  await append('c', 0, '11:58:00');
  const all = await notes();
  t.is(all.length, 2);
  t.regex(all[1] ?? '', /revision 0 of c has a time 70 s before that of the previous event in the log\./);
  t.is((await notes(false)).length, 1, 'streams read one by one have no common order');
  await append('c', 1, 'noon');
  t.is(
    (await notes()).at(-1),
    'The NoteTaken at revision 1 of c has no time: the service writes no such event.',
  );
});

async function againstAnchors(folder: string, anchored = folder): Promise<Verified> {
  const { anchorFile, anchorKeyFile } = configOf(anchored);
  const key = await publicAnchorKey(anchorKeyFile);
  return verified(folder, { what: 'log', anchorFile: anchorFile ?? '', anchorKeys: key ? [key] : [] });
}

/** Returns an altered line with a fitting hash. */
function resealed(line: string, change: Readonly<Record<string, unknown>>): string {
  const event = { ...JSON.parse(line), ...change } as RecordedEvent;
  const hash = hashOf(event.stream, event.revision, event);
  return exportedEvent({ ...event, metadata: { ...event.metadata, hash } });
}

test('one deposit that waits is reported in the singular, and the number of many others with separators', async (t) => {
  await using log = new MemoryEventLog();
  const metadata = { schemaVersion: 1, occurredAt: '2026-03-01T12:00:00Z' };
  const waiting = (id: number) =>
    log.append(`deposit-${id}`, 'none', [{ id: randomUUID(), type: 'DepositCompleted', data: {}, metadata }]);
  const note = async (): Promise<string> => {
    const report = silent();
    await logPass(report, new PlainLogAudit(log).events(), [stuckCheck(report, 1000)]);
    return report.notes[0] ?? '';
  };
  await waiting(1);
  t.regex(await note(), /^1 deposit waits for checks or loading, unchanged for over 1 s: 1\. /);
  for (let id = 2; id <= 1100; id += 1) await waiting(id);
  t.regex(await note(), /^1,100 deposits wait for checks .*, 20 and 1,080 more\. /);
});

function silent(): Report {
  return new Report({ limit: 0, onFinding: () => undefined });
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Yields chunks that do not end at line breaks. */
async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += 1000) yield bytes.subarray(start, start + 1000);
}
