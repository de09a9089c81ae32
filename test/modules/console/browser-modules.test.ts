import { readFileSync } from 'node:fs';
import test from 'ava';
import { array, assert, constantFrom, property } from 'fast-check';
import {
  differencesBetween,
  unchangedMembers,
} from '../../../src/modules/console/browser/deposit/difference.ts';
import {
  historyOf,
  type StreamEvent,
  stepAt,
  viewsAround,
} from '../../../src/modules/console/browser/deposit/history.ts';
import {
  changedPlaces,
  linesOf,
  MAX_CHANGES,
  MAX_LINES,
} from '../../../src/modules/console/browser/files/line-difference.ts';
import { coreSwhid, qualifiedSwhid } from '../../../src/modules/console/browser/files/swhid-context.ts';
import {
  escapePath,
  nameText,
  nodeAt,
  type TreeNode,
  treeDifferences,
  treeOf,
} from '../../../src/modules/console/browser/files/tree.ts';
import { commandLine } from '../../../src/modules/console/browser/texts/command-line.ts';
import { countText } from '../../../src/modules/console/browser/texts/count.ts';
import { nameParts } from '../../../src/modules/console/browser/texts/names.ts';
import { timeText } from '../../../src/modules/console/browser/texts/times.ts';
import { visibleParts, visibleText } from '../../../src/modules/console/browser/texts/visible.ts';
import { unescapePath } from '../../../src/modules/console/proof/manifest.ts';
import { COLUMNS, columnsIn, columnsText } from '../../../src/modules/console/protocol/columns.ts';
import { momentOf } from '../../../src/modules/console/protocol/moment.ts';
import { parseReference } from '../../../src/swhid/swhid.ts';

type Stored = {
  readonly stream: string;
  readonly events: readonly StreamEvent[];
  readonly statuses?: readonly string[];
  readonly state: object;
};

const fixture = new URL('../../fixtures/stored-events.json', import.meta.url);
const streams = (JSON.parse(readFileSync(fixture, 'utf8')) as readonly Stored[]).filter(({ stream }) =>
  stream.startsWith('deposit-'),
);
const [paint] = streams as [Stored];

test('the browser folds every stored deposit to the state of the service, step by step', (t) => {
  for (const { events, statuses, state } of streams) {
    const steps = historyOf(events);
    t.deepEqual(
      steps.map(({ after }) => after.status as string),
      statuses as string[],
    );
    t.deepEqual(steps.at(-1)?.after, state as never);
    for (const { fault, description } of steps) {
      t.is(fault, undefined);
      t.regex(description.sentence, /^[A-Z].*\.$/);
    }
    for (const [index, step] of steps.entries()) t.is(step.before, steps[index - 1]?.after ?? step.before);
  }
});

test('an address has any choice of columns, also that of the first one alone', (t) => {
  const names = COLUMNS.map(({ name }) => name);
  const shownFor = (columns: string | null) =>
    columnsIn(new URLSearchParams(columns === null ? {} : { columns })).map(({ name }) => name);
  for (const length of names.keys())
    t.deepEqual(shownFor(columnsText(names.slice(0, length + 1))), names.slice(0, length + 1));
  for (const unknown of [null, '', 'none']) t.is(columnsText(shownFor(unknown)), null);
});

test('an unreadable event changes nothing, and the others are still shown', (t) => {
  const events = paint.events.with(1, { ...(paint.events[1] as StreamEvent), type: 'NeverSeen' });
  const steps = historyOf(events);
  t.is(steps.length, events.length);
  t.regex(steps[1]?.fault ?? '', /NeverSeen/);
  t.is(steps[1]?.after, steps[1]?.before);
  const views = viewsAround(events, 2);
  t.true(views.length > 0);
  for (const { fault } of views) t.regex(fault ?? '', /^#1: .*NeverSeen/);
});

test('an address selects a step by revision or by time', (t) => {
  const steps = historyOf(paint.events);
  const last = steps.length - 1;
  t.is(stepAt(steps, null), last);
  t.is(stepAt(steps, '3'), 3);
  t.is(stepAt(steps, '999'), last);
  const cut = historyOf(paint.events.toSpliced(1, 1));
  t.deepEqual(
    ['0', '1', '2'].map((at) => stepAt(cut, at)),
    [0, 0, 1],
  );
  t.is(stepAt(steps, 'yesterday'), last);
  t.is(stepAt(steps, '1999-01-01T00:00:00Z'), -1);
  const at = steps[4]?.occurredAt ?? '';
  const index = stepAt(steps, at);
  t.true(index >= 4 && steps[index]?.occurredAt === at && steps[index + 1]?.occurredAt !== at);
});

test('a time has a zone, whatever the clock of the machine says, or is a date in UTC', (t) => {
  const noon = Date.UTC(2026, 2, 1, 12);
  for (const text of [
    '2026-03-01T12:00:00Z',
    '2026-03-01T12:00z',
    '2026-03-01T12:00:00.000+00:00',
    '2026-03-01T17:30+05:30',
    '2026-03-01 12:00:00 UTC',
    '2026-03-01 14:00:00 UTC+2',
    '2026-03-01 08:30:00 UTC−3:30',
  ])
    t.is(momentOf(text), noon, text);
  t.is(momentOf(' 2026-03-01 '), Date.UTC(2026, 2, 1));
  for (const date of [new Date(noon), new Date(0)])
    for (const zone of ['utc', 'local'] as const) t.is(momentOf(timeText(date, zone)), date.getTime());
  for (const text of [
    '',
    '1',
    '-1',
    'May 1',
    '2026-03-01T12:00:00',
    '2026-02-30',
    '2026-03-01T25:00Z',
    '2026-03-01T12:00+24:00',
    '2026-03-01T12:00+10:60',
    '12:00Z',
  ])
    t.is(momentOf(text), undefined, text);
});

test('each view is shown before and after an event, as its projection computes it', (t) => {
  const index = paint.events.findLastIndex(({ type }) => type === 'DepositLoaded');
  const views = new Map(viewsAround(paint.events, index).map((view) => [view.view, view]));
  t.like(views.get('deposit-status')?.before, { status: 'loading' });
  t.like(views.get('deposit-status')?.after, { status: 'done' });
  t.is(views.get('loaded-objects')?.fault, undefined);
  t.like(views.get('deposit-search')?.after, { terms: ' @alice /software ' });
  t.false(views.has('client-logins'));
  t.false(views.has('deleted-deposits'), 'a view that does not handle the type');
});

test('differences name the member with its old and new value', (t) => {
  const before = { status: 'partial', list: [1, 2], same: { a: 1 }, gone: null, lost: [{ c: 1 }] };
  const after = { status: 'done', list: [1, 3, 4], same: { a: 1 }, more: { b: 'x', c: [] } };
  t.deepEqual(differencesBetween(before, after), [
    { path: 'status', kind: 'changed', before: 'partial', after: 'done' },
    { path: 'list[1]', kind: 'changed', before: 2, after: 3 },
    { path: 'list[2]', kind: 'added', after: 4 },
    { path: 'gone', kind: 'removed', before: null },
    { path: 'lost[0].c', kind: 'removed', before: 1 },
    { path: 'more.b', kind: 'added', after: 'x' },
    { path: 'more.c', kind: 'added', after: [] },
  ]);
  t.is(unchangedMembers(before, after), 1);
  t.deepEqual(differencesBetween(undefined, { a: [1] }), [{ path: 'a[0]', kind: 'added', after: 1 }]);
  t.deepEqual(differencesBetween({ a: {} }, undefined), [{ path: 'a', kind: 'removed', before: {} }]);
  t.deepEqual(differencesBetween([], {}), [{ path: '', kind: 'changed', before: [], after: {} }]);
  t.deepEqual(differencesBetween(before, before), []);
});

test('hidden characters, and those that change the direction, are shown by their code points', (t) => {
  t.is(visibleText('evil-\u202eexe.doc'), 'evil-[U+202E]exe.doc');
  t.is(
    visibleText('a\u0000b\u200bc\u2066d\u00a0e\ufefff\u{e0041}'),
    'a[U+0000]b[U+200B]c[U+2066]d[U+00A0]e[U+FEFF]f[U+E0041]',
  );
  t.is(visibleText('👩\u200da\ufe0f\u200d❤️'), '👩[U+200D]a[U+FE0F][U+200D]❤️');
  t.is(visibleText('half \ud83e'), 'half [U+D83E]');
  for (const plain of ['a b\tc\nd', 'é', '漢字', '😀', '👩‍💻', '❤️', '1️⃣', '']) // emoji of several characters as well
    t.is(visibleText(plain), plain);
  t.is(visibleText('\udcff'), '[U+DCFF]');
  t.deepEqual(visibleParts('\u202e'), [{ text: 'U+202E', isHidden: true }]);
});

test('names that browsers would show alike differ as they are shown', (t) => {
  const shown = (name: string) =>
    nameParts(name)
      .map((part) => (part.isHidden ? `[${part.text}]` : part.text))
      .join('');
  for (const [name, text] of [
    ['a b', 'a b'],
    ['a  b', 'a[U+0020][U+0020]b'],
    ['a b ', 'a b[U+0020]'],
    [' a', '[U+0020]a'],
    [' ', '[U+0020]'],
    ['a\nb\tc', 'a[U+000A]b[U+0009]c'],
    ['a \nb', 'a [U+000A]b'],
    ['👩\u200d💻 \u202e', '👩\u200d💻 [U+202E]'],
    ['\u{e00ff}', '[U+E00FF]'],
    ['', ''],
  ] as const)
    t.is(shown(name), text);
  const spaces = ' '.repeat(100_000);
  t.is(nameParts(`${spaces}x`).length, 100_001, 'in linear time');
  t.is(shown(nameText('bad\\xff')), 'bad\\xff');
  t.is(shown(nameText('bad\xff\xc3\xa9')), 'bad[\\xff][\\xc3][\\xa9]', 'bytes that are not UTF-8');
});

test('trees are compared top down, and equal directories are not entered', (t) => {
  const file = (path: string, id: string) => ({ path, mode: '100644', id });
  const directory = (path: string, id: string) => ({ path, mode: '40000', id });
  const before = treeOf({
    directory: 'r1',
    archives: [],
    entries: [
      directory('d', 'd1'),
      file('d/a', 'a1'),
      file('d/b', 'b1'),
      directory('e', 'e1'),
      file('e/x', 'x1'),
    ],
  });
  const after = treeOf({
    directory: 'r2',
    archives: [],
    entries: [
      directory('d', 'd2'),
      file('d/a', 'a2'),
      file('d/c', 'c1'),
      directory('e', 'e1'),
      file('e/x', 'other'),
    ],
  });
  t.deepEqual(
    treeDifferences(before, after).map(({ path, kind }) => `${kind} ${path}`),
    ['changed d/a', 'removed d/b', 'added d/c'],
  );
  t.deepEqual(treeDifferences(before, before), []);
  t.is(nodeAt(after, 'd/c')?.id, 'c1');
  t.is(nodeAt(after, 'd/none/c'), undefined);
  const replaced = treeOf({ directory: 'r3', archives: [], entries: [file('d', 'f1')] });
  t.deepEqual(
    treeDifferences(before, replaced).map(({ path, kind }) => `${kind} ${path}`),
    ['added d', 'removed d/a', 'removed d/b', 'removed e/x'],
  );
});

test('names and identifiers of a tree equal those of the service', (t) => {
  const name = 'a;b%\xc3\xa9\xff';
  t.is(unescapePath(escapePath(name)), name);
  t.is(nameText('\xc3\xa9'), 'é');
  const node: TreeNode = { path: name, name, mode: '100644', id: 'a'.repeat(40), children: [] };
  const context = { origin: 'https://a.example/x;y%20', snapshot: 'b'.repeat(40), revision: 'c'.repeat(40) };
  t.is(coreSwhid(node), `swh:1:cnt:${node.id}`);
  t.deepEqual(parseReference(qualifiedSwhid(node, context, '3-7')), {
    type: 'cnt',
    id: node.id,
    qualifiers: {
      origin: context.origin,
      visit: { type: 'snp', id: context.snapshot },
      anchor: { type: 'rev', id: context.revision },
      path: `/${name}`,
      lines: { first: 3, last: 7 },
    },
  });
});

test('a minimal difference of lines is found, for any texts', (t) => {
  const texts = array(constantFrom('a', 'b', 'c', ''), { maxLength: 12 });
  assert(
    property(texts, texts, (before: readonly string[], after: readonly string[]) => {
      const ends = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
      const lines = (changedPlaces(ends(before), ends(after)) ?? []).flat();
      const changes = lines.filter(({ kind }) => kind !== 'same');
      t.is(changes.length, before.length + after.length - 2 * commonLines(before, after));
      for (const { kind, text, before: old, after: present } of lines) {
        if (kind !== 'added') t.is(before[(old ?? 0) - 1], text);
        if (kind !== 'removed') t.is(after[(present ?? 0) - 1], text);
      }
      const removed = new Set(changes.map(({ before: old }) => old));
      const added = new Set(changes.map(({ after: present }) => present));
      t.deepEqual(
        before.filter((_, index) => !removed.has(index + 1)),
        after.filter((_, index) => !added.has(index + 1)),
      );
      t.is(new Set(lines.map(({ before: old, after: present }) => `${old} ${present}`)).size, lines.length);
    }),
  );
});

/** Returns the length of the longest common subsequence. */
function commonLines(before: readonly string[], after: readonly string[]): number {
  let row = after.map(() => 0);
  for (const old of before) {
    const next: number[] = [];
    for (const [index, present] of after.entries())
      next.push(
        old === present ? (row[index - 1] ?? 0) + 1 : Math.max(row[index] ?? 0, next[index - 1] ?? 0),
      );
    row = next;
  }
  return row.at(-1) ?? 0;
}

test('differences have three lines of context and a size limit', (t) => {
  const numbers = Array.from({ length: 40 }, (_, index) => `${index + 1}`);
  const changed = numbers.with(9, 'ten').with(29, 'thirty');
  t.deepEqual(
    changedPlaces(numbers.join('\n'), changed.join('\n'))?.map((lines) =>
      lines.map(({ text }) => text).join(' '),
    ),
    ['7 8 9 10 ten 11 12 13', '27 28 29 30 thirty 31 32 33'],
  );
  t.deepEqual(changedPlaces('a\nb', 'a\nb'), []);
  t.deepEqual(linesOf('a\n\n'), ['a', '']);
  t.is(changedPlaces('a\n'.repeat(MAX_LINES + 1), ''), undefined);
  const other = (letter: string, count: number) => `${letter}\n`.repeat(count);
  t.is(changedPlaces(other('a', MAX_CHANGES / 2), other('b', MAX_CHANGES / 2 + 1)), undefined);
  t.is(changedPlaces(other('a', MAX_CHANGES / 2), other('b', MAX_CHANGES / 2))?.flat().length, MAX_CHANGES);
});

test('a time has the zone that it was in, also at the other time of the year', (t) => {
  const { TZ } = process.env;
  process.env['TZ'] = 'Europe/Berlin';
  t.is(timeText(new Date('2026-01-31T12:00:00Z'), 'local'), '2026-01-31 13:00:00 UTC+1');
  t.is(timeText(new Date('2026-07-31T22:30:05Z'), 'local'), '2026-08-01 00:30:05 UTC+2');
  process.env['TZ'] = 'America/St_Johns';
  t.is(timeText(new Date('2026-01-31T12:00:00Z'), 'local'), '2026-01-31 08:30:00 UTC−3:30');
  t.is(timeText(new Date('2026-01-31T12:00:00Z'), 'utc'), '2026-01-31 12:00:00 UTC');
  if (TZ === undefined) delete process.env['TZ'];
  else process.env['TZ'] = TZ;
});

test('a command line has the value of a filter as one word, whatever the address says', (t) => {
  const lineFor = (reason: string) => commandLine('recheck', { filter: { reason } });
  t.is(lineFor('NO_ARCHIVE'), 'npx deposit-service retry --reason NO_ARCHIVE');
  t.is(lineFor("x'; rm -rf ~ #"), String.raw`npx deposit-service retry --reason 'x'\''; rm -rf ~ #'`);
  t.is(lineFor('$(id)'), "npx deposit-service retry --reason '$(id)'");
});

test('a number agrees with its noun', (t) => {
  t.deepEqual(
    [0, 1, 2000].map((count) => countText(count, 'file')),
    ['0 files', '1 file', '2,000 files'],
  );
});
