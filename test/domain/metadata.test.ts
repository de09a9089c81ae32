import test from 'ava';
import type { Command } from '../../src/domain/deposit/commands.ts';
import { depositDecider } from '../../src/domain/deposit/decide.ts';
import { depositFacts } from '../../src/domain/deposit/deposit-facts.ts';
import type { DepositEvent, FieldFault, MetadataTarget } from '../../src/domain/deposit/events.ts';
import { MAX_ENTRIES } from '../../src/domain/deposit/limits.ts';
import { validateMetadata } from '../../src/domain/deposit/metadata/metadata-checks.ts';
import { referencedObjects } from '../../src/domain/deposit/objects-of-events.ts';
import {
  aliceEntry,
  createDeposit,
  depositCreated,
  entryWith,
  fallbackOrigin,
  wayTo,
} from '../../testing/domain/example-deposits.ts';
import { scenario } from '../../testing/domain/given.ts';

const given = scenario(depositDecider);
const swhid = `swh:1:dir:${'1'.repeat(40)}`;
const target: MetadataTarget = { kind: 'object', swhid, context: `${swhid};origin=${fallbackOrigin}` };

function fault(kind: FieldFault['kind'], field: string, changes: Partial<FieldFault> = {}): FieldFault {
  return { kind, field, vocabulary: 'CodeMeta 2.0', value: 'value', hint: null, ...changes };
}

/** Returns the lines of the findings: reasons, then warnings. */
function linesOf(...facts: Parameters<typeof entryWith>[0][]): readonly (readonly string[])[] {
  const { reasons, warnings } = validateMetadata(facts.map((one) => entryWith(one)));
  return [reasons, warnings].map((found) => found.map(({ text, fields }) => `${text} (${fields.join()})`));
}

test('faults that Software Heritage refuses reject, and others are warnings', (t) => {
  const date = 'is not a date: write YYYY, YYYY-MM, YYYY-MM-DD or a date with a time';
  const fieldFaults = [
    fault('date', 'codemeta:dateModified', { value: 'soon' }),
    fault('date', 'codemeta:embargoDate', { value: 'later' }),
    fault('nameless', 'codemeta:contributor'),
    fault('nameless', 'codemeta:author', { vocabulary: 'CodeMeta 3.0' }),
    fault('affiliation', 'codemeta:author'),
    fault('person-without-name', 'codemeta:author', { value: 'Ada Lovelace' }),
    fault('term', 'codemeta:licence', { value: 'licence', hint: 'license' }),
    fault('term', 'atom:blub', { value: 'blub', vocabulary: 'Atom' }),
    fault('url', 'codemeta:license', { value: 'MIT' }),
  ];
  const [reasons, warnings] = linesOf({ fieldFaults, fieldFaultsLeftOut: 2, provenance: null });
  t.deepEqual(reasons, [
    `"soon" ${date} (codemeta:dateModified)`,
    'A person or organization has no name (codemeta:contributor)',
    'An affiliation has no name (codemeta:author)',
  ]);
  t.deepEqual(warnings, [
    `"later" ${date} (codemeta:embargoDate)`,
    'A person or organization has no name (codemeta:author)',
    '"Ada Lovelace" has no name element of its own: write the whole name in one (codemeta:author)',
    '"licence" is not a term of CodeMeta 2.0: did you mean license? (codemeta:licence)',
    '"blub" is not a term of Atom (atom:blub)',
    '"MIT" is not an absolute URL (codemeta:license)',
    'and at least 2 more in the metadata (metadata)',
    'Suggested fields are missing (metadata-provenance)',
  ]);
});

test('each fault of several entries is reported once, and one provenance is enough', (t) => {
  const fieldFaults = [fault('date', 'codemeta:dateCreated', { value: 'soon' })];
  const [reasons, warnings] = linesOf(
    { fieldFaults, dateCreated: 'soon', provenance: null },
    { fieldFaults, provenance: 'https://alice.example/' },
  );
  t.is(reasons?.length, 1);
  t.deepEqual(warnings, []);
});

test('an entry without validation results is validated by its known facts', (t) => {
  t.deepEqual(linesOf({}), [[], []]);
  t.is(linesOf({ datePublished: 'soon' })[0]?.length, 1);
});

function update(changes: Partial<Command<'UpdateMetadata'>> = {}): Command<'UpdateMetadata'> {
  const providerUrl = 'https://alice.example/software';
  const entry = aliceEntry;
  return {
    type: 'UpdateMetadata',
    depositId: 1,
    swhid,
    entry,
    providerUrl,
    domain: null,
    ...changes,
  };
}

const done = wayTo('DepositLoaded');
const updated: DepositEvent = { type: 'MetadataUpdated', data: { depositId: 1, swhid, entry: aliceEntry } };

test('a client adds metadata to a done deposit only with its identifier', (t) => {
  given(t, ...done)
    .when(update())
    .thenEvents(updated);
  given(t, ...done)
    .when(update({ swhid: `swh:1:dir:${'2'.repeat(40)}` }))
    .thenRefused('SWHID_MISMATCH');
  given(t, ...wayTo('ArchiveAdded'))
    .when(update())
    .thenRefused('SWHID_MISMATCH');
  for (const type of ['DepositCompleted', 'DepositVerified', 'LoadingStarted'] as const) {
    given(t, ...wayTo(type))
      .when(update())
      .thenRefused('DEPOSIT_NOT_DONE');
  }
  given(t).when(update()).thenRefused('DEPOSIT_NOT_FOUND');
});

test('a metadata update is validated like any entry, and refers only to its deposit', (t) => {
  const when = (facts: Parameters<typeof entryWith>[0]) =>
    given(t, ...done).when(update({ entry: entryWith(facts) }));
  when({ hasAuthor: false }).thenRefused('METADATA_REJECTED');
  when({ datePublished: 'soon' }).thenRefused('METADATA_REJECTED');
  when({ reference: { kind: 'object', value: swhid } }).thenRefused('REFERENCE_OUT_OF_PLACE');
  when({ origin: { relation: 'create', url: 'https://bob.example/' } }).thenRefused(
    'ORIGIN_OUTSIDE_PROVIDER',
  );
  const [own, other] = [fallbackOrigin, 'https://alice.example/software/other'];
  for (const relation of ['create', 'add'] as const) {
    when({ origin: { relation, url: other } }).thenRefused('ORIGIN_MISMATCH', /the deposit is from https:/);
    when({ origin: { relation, url: own } }).thenTypes('MetadataUpdated');
  }
  when({ provenance: null }).thenTypes('MetadataUpdated');
});

test('a metadata update leaves the identifiers and their inputs unchanged', (t) => {
  const before = given(t, ...done).state();
  const after = given(t, ...done, updated, updated).state();
  t.deepEqual(after, { ...before, updates: [aliceEntry, aliceEntry] } as typeof after);
  const most = [...done, ...Array.from({ length: MAX_ENTRIES - 1 }, () => updated)];
  given(t, ...most)
    .when(update())
    .thenRefused('TOO_MANY_ENTRIES');
  t.deepEqual(referencedObjects(updated), [aliceEntry.sha256]);
  const facts = depositFacts(after).find(({ label }) => label === 'metadata');
  t.is(facts?.values.length, 3, 'the existing metadata and both updates');
});

function metadataOnly(changes: Partial<Command<'DepositMetadata'>> = {}): Command<'DepositMetadata'> {
  const { depositId, uuid, client, collection, now, providerUrl } = createDeposit();
  const made = { depositId, uuid, client, collection, now, providerUrl, fallbackOrigin };
  return { type: 'DepositMetadata', ...made, domain: null, entry: aliceEntry, target, ...changes };
}

test('metadata alone are done at once, without checks and load', (t) => {
  const { now } = metadataOnly();
  const events: DepositEvent[] = [
    depositCreated,
    { type: 'MetadataAdded', data: { depositId: 1, entry: aliceEntry } },
    { type: 'MetadataDeposited', data: { depositId: 1, completedAt: now, target, warnings: [] } },
  ];
  given(t)
    .when(metadataOnly())
    .thenEvents(...events);
  given(t, ...events)
    .when(metadataOnly())
    .thenRefused('DEPOSIT_EXISTS');
  for (const type of ['RetryChecks', 'RetryLoading'] as const) {
    t.throws(() => depositDecider.decide({ type, depositId: 1 }, given(t, ...events).state()));
  }
  given(t, ...events)
    .when({ type: 'CompleteDeposit', depositId: 1, now })
    .thenNothing();
  given(t, ...events)
    .when(update())
    .thenEvents(updated);
  const named = entryWith({ origin: { relation: 'create', url: fallbackOrigin } });
  given(t, ...events)
    .when(update({ entry: named }))
    .thenRefused('ORIGIN_MISMATCH', /the deposit has none/);
  const about: MetadataTarget = { kind: 'origin', url: fallbackOrigin };
  given(t, ...events.slice(0, 2), {
    type: 'MetadataDeposited',
    data: { depositId: 1, completedAt: now, target: about, warnings: [] },
  })
    .when(update())
    .thenRefused('SWHID_MISMATCH');
});

test('metadata added later and metadata alone need a url in the domain of the client', (t) => {
  const [domain, own] = ['alice.example', entryWith({ urlHosts: ['bob.example', 'code.alice.example'] })];
  const refused = ['METADATA_REJECTED', /codemeta:url\): expected alice\.example, found /] as const;
  for (const urlHosts of [[], ['bob.example']]) {
    const entry = entryWith({ urlHosts });
    given(t, ...done)
      .when(update({ entry, domain }))
      .thenRefused(...refused);
    given(t)
      .when(metadataOnly({ entry, domain }))
      .thenRefused(...refused);
  }
  given(t, ...done)
    .when(update({ entry: own, domain }))
    .thenTypes('MetadataUpdated');
  given(t)
    .when(metadataOnly({ entry: own, domain }))
    .thenTypes('DepositCreated', 'MetadataAdded', 'MetadataDeposited');
});

test('metadata alone pass the checks or are refused, also with a provenance outside the provider', (t) => {
  const when = (facts: Parameters<typeof entryWith>[0], providerUrl?: string | null) =>
    given(t).when(
      metadataOnly({ entry: entryWith(facts), ...(providerUrl !== undefined && { providerUrl }) }),
    );
  when({ hasTitle: false }).thenRefused('METADATA_REJECTED');
  when({ provenance: 'https://bob.example/software/' }).thenRefused(
    'PROVENANCE_OUTSIDE_PROVIDER',
    /only for what is below its provider URL https:/,
  );
  when({ provenance: 'not a URL' }).thenRefused('PROVENANCE_OUTSIDE_PROVIDER');
  when({ provenance: fallbackOrigin }, null).thenRefused(
    'PROVENANCE_OUTSIDE_PROVIDER',
    /has no provider URL/,
  );
  when({ provenance: fallbackOrigin }).thenTypes('DepositCreated', 'MetadataAdded', 'MetadataDeposited');
});

test('a reference is refused in a software deposit', (t) => {
  const entry = entryWith({ reference: { kind: 'object', value: swhid } });
  given(t).when(createDeposit({ entry })).thenRefused('REFERENCE_OUT_OF_PLACE');
});
