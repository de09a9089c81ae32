import test from 'ava';
import {
  type ArchiveVerdict,
  type CheckInput,
  check,
  missingParts,
} from '../../src/domain/deposit/checks.ts';
import { parseGitDate } from '../../src/domain/deposit/metadata/git-date.ts';
import { revisionDates } from '../../src/domain/deposit/metadata/revision-dates.ts';
import { dryRunDetail, missingDetail, statusDetail } from '../../src/domain/deposit/status-detail.ts';
import {
  aliceArchive,
  aliceEntry,
  entryWith,
  reading,
  secondArchive,
} from '../../testing/domain/example-deposits.ts';

const good: ArchiveVerdict = { archive: aliceArchive, reading, faults: [], warnings: [] };
const input: CheckInput = { entries: [aliceEntry], archives: [good], conflicts: [], clientDomain: null };

/** Returns the detail that a depositor reads. */
function detailOf(changes: Partial<CheckInput>): string {
  const outcome = check({ ...input, ...changes });
  return outcome.verified ? 'verified' : dryRunDetail(outcome.reasons, []);
}

test('a valid deposit is verified with its facts', (t) => {
  t.deepEqual(check(input), { verified: true, readings: [reading], warnings: [] });
});

test('every failure is reported, in the order metadata, archives, url', (t) => {
  const faults = [{ code: 'BAD_CRC', text: 'The member "a" is corrupt.' }];
  const bad = { archive: secondArchive, reading: null, faults, warnings: [] };
  const entries = [
    entryWith({ hasAuthor: false, hasTitle: false, dateCreated: 'soon', urlHosts: ['other.example'] }),
  ];
  t.is(
    detailOf({ entries, archives: [good, bad], clientDomain: 'alice.example' }),
    [
      '- Mandatory fields are missing (author)',
      '- Mandatory alternate fields are missing (title, name)',
      '- "soon" is not a date: write YYYY, YYYY-MM, YYYY-MM-DD or a date with a time (codemeta:dateCreated)',
      '- docs.zip: The member "a" is corrupt. (archive)',
      "- At least one url field must be compatible with the client's domain name (codemeta:url): expected alice.example, found other.example",
    ].join('\n'),
  );
});

test('the total size of reasons and warnings is limited, and warnings never displace a reason', (t) => {
  const fieldFaults = Array.from({ length: 15 }, (_, index) => ({
    kind: 'term' as const,
    field: `codemeta:${'漢'.repeat(20)}${index}`,
    vocabulary: 'CodeMeta 2.0',
    value: '漢'.repeat(60),
    hint: null,
  }));
  const entries = Array.from({ length: 100 }, () => entryWith({ fieldFaults, hasAuthor: false }));
  const faults = Array.from({ length: 50 }, (_, index) => ({
    code: 'X',
    text: `${index} ${'x'.repeat(400)}`,
  }));
  const outcome = check({ ...input, entries, archives: [{ ...good, reading: null, faults }] });
  t.false(outcome.verified);
  t.true(Buffer.byteLength(JSON.stringify(outcome)) < 8000);
  t.is(outcome.verified ? '' : outcome.reasons[0]?.text, 'Mandatory fields are missing');
  t.is(outcome.warnings.at(-1)?.code, 'MORE');
});

test('a long text is never truncated within a character', (t) => {
  for (const shift of ['', 'x']) {
    const faults = [{ code: 'X', text: `${shift}${'🤖'.repeat(200)}` }];
    const detail = detailOf({ archives: [{ ...good, reading: null, faults }] });
    t.regex(detail, /🤖… \(archive\)$/);
    t.true(detail.isWellFormed());
  }
});

test('without an archive or without metadata a deposit is rejected', (t) => {
  t.is(detailOf({ archives: [] }), '- The deposit has no software archive (archive)');
  t.is(detailOf({ entries: [] }), '- The deposit has no metadata (metadata)');
});

test('everything missing before the checks is a reason for rejection', (t) => {
  for (const missing of [{ archives: [] }, { entries: [] }, { archives: [], entries: [] }]) {
    const deposit = { ...input, ...missing };
    t.is(missingDetail(missingParts(deposit)), `The checks will reject this deposit:\n${detailOf(missing)}`);
  }
  t.deepEqual(missingParts(input), []);
});

test('a rejected deposit states the next step before its warnings', (t) => {
  const reason = { code: 'X', text: 'Broken', fields: ['archive'] };
  t.is(
    statusDetail('rejected', [reason], [{ ...reason, text: 'Odd' }]),
    '- Broken (archive)\nA rejected deposit cannot be changed: correct this and make a new deposit.\nWarnings:\n- Odd (archive)',
  );
});

test('a url host is valid if it equals the domain or is below it', (t) => {
  const withHost = (host: string) =>
    detailOf({ entries: [entryWith({ urlHosts: [host] })], clientDomain: 'alice.example' });
  t.is(withHost('alice.example'), 'verified');
  t.is(withHost('code.alice.example'), 'verified');
  t.not(withHost('malice.example'), 'verified');
  t.not(withHost('alice.example.evil.org'), 'verified');
});

test('added metadata extend the entry: each check examines all entries together', (t) => {
  const [first, second] = [entryWith({ hasAuthor: false, title: null }), entryWith({ hasTitle: false })];
  t.is(detailOf({ entries: [first, second] }), 'verified');
});

test('warnings do not reject, and are separate from reasons', (t) => {
  const warned = { ...good, warnings: [{ code: 'DUPLICATE', text: 'Two members are called "a".' }] };
  const outcome = check({ ...input, archives: [warned] });
  t.true(outcome.verified);
  t.is(
    statusDetail('verified', [], outcome.warnings),
    'The deposit passed its checks and waits to be loaded.\nWarnings:\n- paint-1.0.tar.gz: Two members are called "a". (archive)',
  );
});

test('an event stays small with any number of faults', (t) => {
  const faults = Array.from({ length: 500 }, (_, index) => ({
    code: 'X',
    text: `${index} ${'x'.repeat(2000)}`,
  }));
  const outcome = check({ ...input, archives: [{ ...good, reading: null, faults }] });
  t.false(outcome.verified);
  t.true(JSON.stringify(outcome).length < 8000);
  t.regex(outcome.verified ? '' : dryRunDetail(outcome.reasons, []), /and 481 more/);
});

test('a fault of one item never hides the fault of another', (t) => {
  const manyOf = (what: string) =>
    Array.from({ length: 100 }, (_, index) => ({ code: 'X', text: `${what} ${index} ${'x'.repeat(200)}` }));
  const faultsIn = (entry: number) =>
    Array.from({ length: 15 }, (_, index) => ({
      kind: 'nameless' as const,
      field: `codemeta:contributor ${'x'.repeat(60)} ${index} of ${entry}`,
      vocabulary: 'CodeMeta 2.0',
      value: '',
      hint: null,
    }));
  const detail = detailOf({
    entries: [1, 2, 3, 4].map((entry) => entryWith({ fieldFaults: faultsIn(entry) })),
    archives: [{ ...good, reading: null, faults: manyOf('bad') }],
    conflicts: manyOf('conflict'),
    clientDomain: 'elsewhere.example',
  });
  t.regex(detail, /has no name[^]*bad 0[^]*and \d+ more \(archive\)\n- At least one url field[^\n]*$/);
});

test('an event stays small with all archives that a deposit may have by default', (t) => {
  const archives = Array.from({ length: 32 }, (_, index) => ({
    ...good,
    reading: { ...reading, format: 'tar.bz2' as const, files: 99_999, bytes: 99_999_999 },
    warnings: [{ code: 'X', text: `${index} ${'x'.repeat(200)}` }],
  }));
  const outcome = check({ ...input, archives });
  t.true(outcome.verified);
  t.true(JSON.stringify(outcome).length < 7600, String(JSON.stringify(outcome).length));
  t.is(outcome.warnings.at(-1)?.code, 'MORE');
});

test('each of many small faults is reported', (t) => {
  const archives = Array.from({ length: 32 }, (_, index) => ({
    ...good,
    archive: { ...good.archive, filename: `part-${index}.zip` },
    reading: null,
    faults: [{ code: 'X', text: 'The archive holds nothing but an archive within an archive.' }],
  }));
  const detail = detailOf({ archives, clientDomain: 'elsewhere.example' });
  t.deepEqual(
    archives.filter(({ archive }) => !detail.includes(archive.filename)),
    [],
  );
});

test('a date that an earlier entry overrides causes only a warning', (t) => {
  const dated = (name: string) => entryWith({ [name]: '2020-01-01' });
  for (const [name, other] of [
    ['dateCreated', 'datePublished'],
    ['datePublished', 'dateCreated'],
  ] as const) {
    const fault = { kind: 'date', field: `codemeta:${name}`, vocabulary: 'CodeMeta 2.0' } as const;
    const later = entryWith({ [name]: 'nope', fieldFaults: [{ ...fault, value: 'nope', hint: null }] });
    t.is(detailOf({ entries: [dated(name), later] }), 'verified');
    for (const entries of [
      [later, dated(name)],
      [dated(other), later],
    ])
      t.regex(detailOf({ entries }), /"nope" is not a date/);
  }
  const modified = { kind: 'date', field: 'codemeta:dateModified', vocabulary: 'CodeMeta 2.0' } as const;
  const last = entryWith({ fieldFaults: [{ ...modified, value: 'nope', hint: null }] });
  t.regex(detailOf({ entries: [dated('datePublished'), last] }), /"nope" is not a date/);
});

test('dates are parsed as years, months, days or timestamps, and nothing else', (t) => {
  t.deepEqual(parseGitDate('2017'), { seconds: 1_483_228_800, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10'), { seconds: 1_506_816_000, offset: '+0000' });
  t.deepEqual(parseGitDate(' 2017-10-07 '), { seconds: 1_507_334_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-07T15:17:08Z'), { seconds: 1_507_389_428, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-07T17:17:08.9+02:00'), { seconds: 1_507_389_428, offset: '+0200' });
  t.deepEqual(parseGitDate('2017-10-07 11:47:08-0330'), { seconds: 1_507_389_428, offset: '-0330' });
  t.deepEqual(parseGitDate('1965-01-01'), { seconds: -157_766_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-07Z'), { seconds: 1_507_334_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-07+02:00'), { seconds: 1_507_327_200, offset: '+0200' });
  t.deepEqual(parseGitDate('2017-10-07T00:59+00:59'), { seconds: 1_507_334_400, offset: '+0059' });
  t.deepEqual(parseGitDate('20171007'), { seconds: 1_507_334_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-06T24:00:00'), { seconds: 1_507_334_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-10-06T24:00:00.000'), { seconds: 1_507_334_400, offset: '+0000' });
  t.deepEqual(parseGitDate('2017-12-31T24:00+14:00'), { seconds: 1_514_714_400, offset: '+1400' });
  for (const text of [
    '',
    '2017-1007',
    '2017-10-07T10:00Z+02:00',
    'soon',
    '2017-13',
    '2017-02-30',
    '7 Oct 2017',
    '2017-10-07T25:00',
    '20170230',
    '201710',
    '20171007T10:00',
    '2017-10-07T24:00:01',
    '2017-10-07T24:00:00.5',
    '2017-10-07T24:00:00.05',
    '2017-02-30T24:00',
    '-2017',
    '12017-10-07',
    '2017-1-1',
    '2017-10-07+15:00',
    '2017-10-07T10:00-02:60',
  ]) {
    t.is(parseGitDate(text), undefined, text);
  }
});

test('the dates of a revision come from the metadata, or else from the completion', (t) => {
  const completedAt = '2017-10-07T15:17:08.123Z';
  const completion = { seconds: 1_507_389_428, offset: '+0000' };
  const [created, published] = [
    { seconds: 1_483_228_800, offset: '+0000' },
    { seconds: 1_514_764_800, offset: '+0000' },
  ];
  const dates = (facts: object) => revisionDates([entryWith(facts)], completedAt);
  t.deepEqual(dates({}), { author: completion, committer: completion });
  t.deepEqual(dates({ dateCreated: '2017' }), { author: created, committer: created });
  t.deepEqual(dates({ datePublished: '2018' }), { author: published, committer: published });
  t.deepEqual(dates({ dateCreated: '2017', datePublished: '2018' }), {
    author: created,
    committer: published,
  });
});
