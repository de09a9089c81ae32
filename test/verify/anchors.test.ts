import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import type { EventLog } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { PlainLogAudit } from '../../src/event-log/integrity/log-audit.ts';
import {
  type Anchor,
  anchorIn,
  anchorLine,
  isSignedByItsKey,
  signAnchor,
} from '../../src/modules/anchors/anchor.ts';
import { publicAnchorKey } from '../../src/modules/anchors/anchor-key.ts';
import { startAnchoring } from '../../src/modules/anchors/anchor-scheduler.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { MerkleTree } from '../../src/modules/anchors/merkle-tree.ts';
import { copyLog } from '../../src/operations/copy/log-copy.ts';
import { anchorsToCompare } from '../../src/operations/verify/anchor-sources.ts';
import { anchorCheck } from '../../src/operations/verify/checks/anchor.ts';
import { logPass } from '../../src/operations/verify/log-pass.ts';
import { type Finding, Report } from '../../src/operations/verify/report.ts';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { describeFsError } from '../../src/tools/files/describe-fs-error.ts';
import { silentLogger } from '../../src/tools/logger.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { until } from '../../testing/processes/until.ts';
import { keptLines } from '../../testing/service/kept-lines.ts';

test('the Merkle tree follows RFC 6962, also when it continues from a saved state', (t) => {
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657'];
  const roots = [
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  ];
  let tree = new MerkleTree();
  t.is(tree.root(), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [index, leaf] of leaves.entries()) {
    tree.append(Buffer.from(leaf, 'hex'));
    t.is(tree.root(), roots[index] ?? '');
    tree = new MerkleTree(tree.state);
  }
});

test('an anchor covers the new events, is written to the log and the file, and verifies', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 10);
  const first = await makeAnchor(place.log, place);
  t.like(first, { made: true, written: 1, anchor: { events: 10, previous: null } });
  t.like(await makeAnchor(place.log, place), { made: false, written: 0, anchor: first.anchor });
  await fill(place.log, 3);
  const second = await makeAnchor(place.log, place);
  t.like(second, { made: true, written: 1, anchor: { events: 14 } });
  t.is(second.anchor.previous?.length, 64);
  const { findings, report } = await compare(place.log, place);
  t.deepEqual(findings, []);
  t.is(report.counts.anchors, 2);
  t.is((await stat(path.join(place.dataDir, 'key.pem'))).mode & 0o777, 0o600);
});

test('only new events are read for an anchor, and a lost state changes nothing', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 20);
  await makeAnchor(place.log, place);
  await fill(place.log, 2);
  const read: number[] = [];
  const counted: EventLog = Object.assign(Object.create(place.log) as EventLog, {
    async *readAll(...args: Parameters<EventLog['readAll']>) {
      for await (const event of place.log.readAll(...args)) {
        read.push(event.revision);
        yield event;
      }
    },
    readStream: (...args: Parameters<EventLog['readStream']>) => place.log.readStream(...args),
    append: (...args: Parameters<EventLog['append']>) => (place.log as EventLog).append(...args),
  });
  await makeAnchor(counted, place);
  t.is(read.length, 3, 'the first anchor and two events');
  await rm(path.join(place.dataDir, 'anchor-state.json'));
  await fill(place.log, 1);
  await makeAnchor(place.log, place);
  const stateFile = path.join(place.dataDir, 'anchor-state.json');
  const state = JSON.parse(await readFile(stateFile, 'utf8')) as { tree: { size: number; peaks: string[] } };
  const { size, peaks } = state.tree;
  for (const broken of [
    '{"version":1,"tree":',
    JSON.stringify({ ...state, tree: {} }),
    JSON.stringify({ ...state, tree: { size, peaks: peaks.slice(1) } }),
    JSON.stringify({ ...state, tree: { size: size + 0.5, peaks } }),
    JSON.stringify({ ...state, tree: { size, peaks: peaks.with(0, 'x') } }),
    JSON.stringify({ ...state, last: { stream: 1 } }),
  ]) {
    await writeFile(stateFile, broken);
    await fill(place.log, 1);
    await makeAnchor(place.log, place);
  }
  t.deepEqual((await compare(place.log, place)).findings, []);
});

test('no anchor is made or sufficient for a log with fewer events than its last anchor covers', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 6);
  await makeAnchor(place.log, place);
  await using cut = new MemoryEventLog();
  let number = 0;
  for await (const { stream, revision, ...event } of place.log.readAll()) {
    number += 1;
    if (number > 3) await cut.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
  }
  await t.throwsAsync(makeAnchor(cut, place), {
    code: 'ANCHORED_EVENTS_GONE',
    message: /^The event log holds 4 events, its last anchor of .* is over 6: events were removed\./,
  });
});

test('an invalid entry among the anchors is named when the next one is made', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 2);
  const event = { id: randomUUID(), type: 'AnchorMade', data: {}, metadata: { schemaVersion: 1 } };
  await place.log.append('anchors', 'none', sealAfter('anchors', 'none', null, [event]));
  await t.throwsAsync(makeAnchor(place.log, place), {
    code: 'NO_ANCHOR',
    message:
      /^The event at revision 0 of the stream anchors is not an anchor: .* Its anchor is missing or wrong\. Run "deposit-service verify/,
  });
});

test('concurrent anchors follow each other, in the log and in the file', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 5);
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      await fill(place.log, 1);
      await makeAnchor(place.log, place);
    }),
  );
  const { findings, report } = await compare(place.log, place);
  t.deepEqual(findings, []);
  const lines = (await readFile(place.anchorFile, 'utf8')).trim().split('\n');
  t.is(lines.length, report.counts.anchors);
});

test('a file gets every missing anchor, and a truncated line is written again', async (t) => {
  const place = await newPlace(t);
  for (const count of [4, 3]) {
    await fill(place.log, count);
    await makeAnchor(place.log, { ...place, anchorFile: null });
  }
  t.is((await makeAnchor(place.log, place)).written, 2);
  const whole = await readFile(place.anchorFile, 'utf8');
  await writeFile(place.anchorFile, whole.slice(0, -50));
  const beforeThat = await compare(place.log, place);
  t.deepEqual(beforeThat.findings, [], 'the leftovers of a crash are no finding');
  t.regex(beforeThat.report.notes.join(), /^The last line of .* is truncated/);
  t.is((await makeAnchor(place.log, place)).written, 1);
  t.is(await readFile(place.anchorFile, 'utf8'), whole);
  const other = await newPlace(t);
  await fill(other.log, 4);
  await t.throwsAsync(makeAnchor(other.log, { ...other, anchorFile: place.anchorFile }), {
    code: 'FOREIGN_ANCHOR_FILE',
  });
  t.is(await readFile(place.anchorFile, 'utf8'), whole);
});

test('an additional field in an anchor is refused, whatever its name', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 4);
  const { anchor } = await makeAnchor(place.log, place);
  for (const extra of ['more', 'constructor']) {
    const line = anchorLine(Object.assign({ [extra]: 1 }, anchor));
    t.throws(() => anchorIn(line), { message: `It has something unknown: ${extra}.` });
  }
});

test('a last line that only lacks its end is an anchor: another one follows it, none replaces it', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 4);
  await makeAnchor(place.log, place);
  const whole = await readFile(place.anchorFile, 'utf8');
  await writeFile(place.anchorFile, whole.slice(0, -1));
  await fill(place.log, 3);
  await makeAnchor(place.log, place);
  const [first, second = '', ...rest] = (await readFile(place.anchorFile, 'utf8')).split('\n');
  t.deepEqual([`${first}\n`, rest], [whole, ['']]);
  t.is(anchorIn(second).events, 8);
  await writeFile(place.anchorFile, `${first}\n${second}`);
  // A log restored to a state before the second anchor.
  await using older = new MemoryEventLog();
  for await (const { stream, revision, ...event } of place.log.readAll()) {
    if (stream === 'anchors' && revision === 1) break;
    await older.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
  }
  await t.throwsAsync(makeAnchor(older, { ...place, dataDir: await temporaryFolder(t) }), {
    code: 'FOREIGN_ANCHOR_FILE',
  });
  t.is(await readFile(place.anchorFile, 'utf8'), `${first}\n${second}`);
});

test('a file that holds something else is refused and retained, whether or not its last line has an end', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 4);
  const { anchor } = await makeAnchor(place.log, { ...place, anchorFile: null });
  const line = `${anchorLine(anchor)}\n`;
  for (const rest of [
    's3cret-token',
    '{"anchor":2',
    '\0key',
    '{"anchor":1,"events":\0x',
    '{"anchor":1,"events":1}',
  ]) {
    for (const contents of [rest, `${rest}\n`, line + rest]) {
      await writeFile(place.anchorFile, contents);
      await t.throwsAsync(makeAnchor(place.log, place), {
        code: 'FOREIGN_ANCHOR_FILE',
        message: /^The last line of .* is not an anchor: give a new file\.$/,
      });
      t.is(await readFile(place.anchorFile, 'utf8'), contents);
    }
    const { findings } = await compare(place.log, place);
    t.deepEqual(
      findings.map(({ code }) => code),
      ['ANCHOR_UNREADABLE'],
      rest,
    );
  }
});

test('a line is written again wherever a crash cut it, and over the zeros of a power cut', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 4);
  await makeAnchor(place.log, place);
  const first = await readFile(place.anchorFile, 'utf8');
  await fill(place.log, 3);
  await makeAnchor(place.log, place);
  const whole = await readFile(place.anchorFile, 'utf8');
  for (const complete of ['', first]) {
    const line = whole.slice(complete.length).replace(/\n[^]*/, '');
    for (const length of [0, 1, 20, 21, 22, 100, line.length - 1])
      for (const zeros of ['', '\0'.repeat(line.length - length)]) {
        await writeFile(place.anchorFile, complete + line.slice(0, length) + zeros);
        await makeAnchor(place.log, place);
        t.is(await readFile(place.anchorFile, 'utf8'), whole, `${length} characters, ${zeros.length} zeros`);
      }
  }
});

test('a log rewritten with a consistent chain is detected, with the streams in question', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 6, 'early');
  await makeAnchor(place.log, place);
  await fill(place.log, 6, 'late');
  await makeAnchor(place.log, place);
  await fill(place.log, 2, 'last');
  await using rewritten = new MemoryEventLog();
  for await (const { stream, revision, position: _position, ...event } of place.log.readAll()) {
    const data = stream === 'late-2' ? { ...event.data, said: 'something else' } : event.data;
    const { hash: _hash, prevHash, ...metadata } = event.metadata;
    const expected = revision === 0 ? 'none' : revision - 1;
    const sealed = sealAfter(stream, expected, prevHash as string | null, [{ ...event, data, metadata }]);
    await rewritten.append(stream, expected, sealed);
  }
  const { findings } = await compare(rewritten, place);
  t.like(findings, [{ code: 'ANCHOR_DOES_NOT_HOLD', anchor: 13 }]);
  t.deepEqual(findings[0]?.streams, ['anchors', ...Array.from({ length: 6 }, (_, index) => `late-${index}`)]);
  t.regex(findings[0]?.text ?? '', /among the events 7 to 13, which are of anchors \(revision 0\), late-0/);
});

test('forged anchors of a rewritten log do not hide where it was rewritten', async (t) => {
  const place = await newPlace(t);
  for (const name of ['early', 'late']) {
    await fill(place.log, 6, name);
    await makeAnchor(place.log, place);
  }
  await using rewritten = new MemoryEventLog();
  const options = {
    dataDir: (await newPlace(t)).dataDir,
    anchorKeyFile: place.anchorKeyFile,
    anchorFile: null,
  };
  for await (const { stream, revision: _revision, position: _position, ...event } of place.log.readAll()) {
    if (stream === 'anchors') {
      await makeAnchor(rewritten, options);
      continue;
    }
    const data = stream === 'late-2' ? { ...event.data, said: 'something else' } : event.data;
    const { hash: _hash, prevHash: _prevHash, ...metadata } = event.metadata;
    const sealed = sealAfter(stream, 'none', null, [{ ...event, data, metadata }]);
    await rewritten.append(stream, 'none', sealed);
  }
  const { findings } = await compare(rewritten, place);
  t.deepEqual(
    findings.map(({ code }) => code),
    ['ANCHOR_NOT_IN_LOG', 'ANCHOR_NOT_IN_LOG', 'ANCHOR_DOES_NOT_HOLD'],
  );
  t.regex(findings[2]?.text ?? '', /among the events 7 to 13, which are of anchors \(revision 0\), late-0/);
});

test('an error of a file that cannot be truncated names it', async (t) => {
  if (!existsSync('/dev/full')) return t.pass('this system has no device that is always full');
  const place = await newPlace(t);
  await fill(place.log, 1);
  const error = await t.throwsAsync(makeAnchor(place.log, { ...place, anchorFile: '/dev/full' }));
  t.is(describeFsError(error), '/dev/full cannot be used: invalid argument (EINVAL).');
});

test('a truncated log is detected, and one extended by others is accepted', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 6);
  await makeAnchor(place.log, place);
  await fill(place.log, 3);
  await using copy = new MemoryEventLog();
  await copyLog(place.log, copy);
  await fill(copy, 4);
  t.deepEqual((await compare(copy, place)).findings, [], 'positions are ignored');
  await using cut = new MemoryEventLog();
  let number = 0;
  for await (const { stream, revision, ...event } of place.log.readAll()) {
    number += 1;
    if (number < 4) await cut.append(stream, revision === 0 ? 'none' : revision - 1, [event]);
  }
  const { findings } = await compare(cut, place);
  t.deepEqual(
    findings.map(({ code }) => code),
    ['ANCHOR_NOT_IN_LOG', 'EVENTS_REMOVED'],
  );
  t.regex(findings[1]?.text ?? '', /has only 3 events\. At least 3 were removed/);
});

test('an anchor made by a running service between two reads of anchors is not missed in the log', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 2);
  await makeAnchor(place.log, place);
  const log = new PlainLogAudit(place.log);
  const sources = {
    async *stream(name: string) {
      yield* log.stream(name);
      await fill(place.log, 1);
      await makeAnchor(place.log, place);
    },
  };
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  await anchorsToCompare(sources, { file: place.anchorFile, keys: [] }, report);
  t.deepEqual(findings, []);
});

test('altered, omitted and foreign anchors are detected', async (t) => {
  const place = await newPlace(t);
  for (const count of [2, 2, 2]) {
    await fill(place.log, count);
    await makeAnchor(place.log, place);
  }
  const lines = (await readFile(place.anchorFile, 'utf8')).trim().split('\n');
  const anchors = lines.map((line) => anchorIn(line)) as [Anchor, Anchor, Anchor];
  t.true(anchors.every((anchor) => isSignedByItsKey(anchor)));
  const { privateKey } = generateKeyPairSync('ed25519');
  const { events, root, previous, madeAt } = anchors[2];
  const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['left out', [lines[0] as string, lines[2] as string], ['ANCHORS_BROKEN']],
    [
      'altered',
      [lines[0] as string, anchorLine({ ...anchors[1], madeAt: '2020' }), lines[2] as string],
      ['ANCHOR_NOT_SIGNED', 'ANCHORS_BROKEN', 'ANCHOR_NOT_IN_LOG'],
    ],
    [
      'another root',
      [anchorLine({ ...anchors[0], root: '0'.repeat(64) }), ...lines.slice(1)],
      ['ANCHOR_NOT_SIGNED', 'ANCHORS_BROKEN', 'ANCHOR_NOT_IN_LOG'],
    ],
    [
      'signed by others',
      [...lines.slice(0, 2), anchorLine(signAnchor({ events, root, previous, madeAt }, privateKey))],
      ['ANCHOR_KEY_FOREIGN', 'ANCHOR_NOT_IN_LOG'],
    ],
    ['no anchor', [...lines, '{"anchor":1}'], ['ANCHOR_UNREADABLE']],
    ['other spelling', [...lines.slice(0, 2), ` ${lines[2]}`], ['ANCHOR_UNREADABLE']],
    ['empty', [], ['ANCHOR_UNREADABLE']],
  ];
  for (const [what, altered, codes] of cases) {
    await writeFile(place.anchorFile, `${altered.join('\n')}\n`);
    const { findings } = await compare(place.log, place);
    t.deepEqual(
      findings.map(({ code }) => code),
      codes,
      what,
    );
  }
});

test('a service with an interval makes anchors, and continues if one fails', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 1);
  const options = {
    ...place,
    anchorInterval: 1 / 60_000,
    anchorFile: path.join(place.dataDir, 'no', 'file'),
  };
  await using _anchoring = startAnchoring(place.log, options, silentLogger);
  const anchors = () => Array.fromAsync(place.log.readStream('anchors'), ({ type }) => type);
  while ((await anchors()).length < 1) await pause(5);
  await fill(place.log, 1);
  while ((await anchors()).length < 2) await pause(5);
  t.deepEqual(await anchors(), ['AnchorMade', 'AnchorMade']);
});

test.serial('a service makes its first anchor a minute after the start, with any interval', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 1);
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  const anchoring = startAnchoring(place.log, { ...place, anchorInterval: 1440 }, silentLogger);
  mock.timers.tick(59_000);
  t.is((await Array.fromAsync(place.log.readStream('anchors'))).length, 0);
  mock.timers.tick(1000);
  mock.timers.reset();
  while ((await Array.fromAsync(place.log.readStream('anchors'))).length < 1) await pause(5);
  await anchoring[Symbol.asyncDispose]();
  t.is(anchoring.interval, 86_400);
});

test.serial('a service that makes an anchor each minute starts with one, not two', async (t) => {
  const place = await newPlace(t);
  await fill(place.log, 1);
  const { logger, lines } = keptLines();
  const options = { ...place, anchorInterval: 1, anchorFile: path.join(place.dataDir, 'no', 'file') };
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.teardown(() => mock.timers.reset());
  const anchoring = startAnchoring(place.log, options, logger);
  mock.timers.tick(60_000);
  mock.timers.reset();
  while (lines.length < 2) await pause(5);
  await pause(50); // prevents another try, which would follow at once
  await anchoring[Symbol.asyncDispose]();
  t.deepEqual(
    lines.map(({ msg }) => msg),
    ['anchor', 'anchor not written to the file'],
  );
  t.is(lines[1]?.['file'], options.anchorFile);
});

test('an empty log is no failure to make an anchor, and the age counts from the last time', async (t) => {
  const place = await newPlace(t);
  const { logger, lines } = keptLines();
  let [now, anchorNow] = [0, (): void => undefined];
  const setInterval = (work: () => void) => {
    anchorNow = work;
    return CLOCK_OF_NODE.setTimeout(() => undefined);
  };
  await runInWorld({ clock: { ...CLOCK_OF_NODE, monotonic: () => now, setInterval } }, async () => {
    await using anchoring = startAnchoring(place.log, { ...place, anchorInterval: 1 }, logger);
    now = 90_000;
    anchorNow();
    await until(async () => anchoring.age === 0);
    now = 150_000;
    t.is(anchoring.age, 60);
  });
  t.deepEqual(lines, []);
});

type Place = {
  readonly log: MemoryEventLog;
  readonly dataDir: string;
  readonly anchorKeyFile: string;
  readonly anchorFile: string;
};

async function newPlace(t: ExecutionContext): Promise<Place> {
  const dataDir = await temporaryFolder(t);
  const log = new MemoryEventLog();
  const [anchorKeyFile, anchorFile] = [path.join(dataDir, 'key.pem'), path.join(dataDir, 'anchors.ndjson')];
  return { log, dataDir, anchorKeyFile, anchorFile };
}

/** Appends each event to a stream of its own. */
async function fill(log: EventLog, count: number, name: string = randomUUID()): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const stream = `${name}-${number}`;
    const event = { id: randomUUID(), type: 'NoteTaken', data: { number }, metadata: { schemaVersion: 1 } };
    await log.append(stream, 'none', sealAfter(stream, 'none', null, [event]));
  }
}

async function compare(log: EventLog, { anchorFile, anchorKeyFile }: Place) {
  const findings: Finding[] = [];
  const report = new Report({ limit: 100, onFinding: (finding) => findings.push(finding) });
  const key = await publicAnchorKey(anchorKeyFile);
  const keys = key ? [key.export({ type: 'spki', format: 'der' }).toString('base64')] : [];
  const audit = new PlainLogAudit(log);
  const anchors = await anchorsToCompare(audit, { file: anchorFile, keys }, report);
  await logPass(report, audit.events(), [anchorCheck(report, anchors)]);
  return { findings, report };
}
