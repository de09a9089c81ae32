import test from 'ava';
import { depositDecider } from '../../src/domain/deposit/decide.ts';
import type { DepositEvent } from '../../src/domain/deposit/events.ts';
import { assertArchives, MAX_CHANGES, MAX_ENTRIES } from '../../src/domain/deposit/limits.ts';
import {
  aliceArchive,
  aliceEntry,
  archiveAdded,
  broken,
  changeDeposit,
  copyUnreadable,
  createDeposit,
  depositCompleted,
  depositCreated,
  depositDeleted,
  depositLoaded,
  depositRejected,
  depositVerified,
  entryWith,
  loadedData,
  loadingFailed,
  loadingStarted,
  metadataAdded,
  noArchive,
  reading,
  secondArchive,
  unreadableCopy,
  wayTo,
} from '../../testing/domain/example-deposits.ts';
import { scenario } from '../../testing/domain/given.ts';

const given = scenario(depositDecider);
const now = '2026-03-01T12:00:00.000Z';

test('a final request creates and completes a deposit at once', (t) => {
  given(t).when(createDeposit()).thenEvents(depositCreated, archiveAdded, metadataAdded, depositCompleted());
});

test('a deposit that is in progress is partial', (t) => {
  given(t)
    .when(createDeposit({ isFinal: false, entry: null }))
    .thenEvents(depositCreated, archiveAdded);
  t.is(given(t, depositCreated, archiveAdded).state().status, 'partial');
});

test('a deposit cannot be created empty', (t) => {
  given(t)
    .when(createDeposit({ archive: null, entry: null }))
    .thenRefused('NOTHING_DEPOSITED');
});

test('an id is used once', (t) => {
  given(t, depositCreated).when(createDeposit()).thenRefused('DEPOSIT_EXISTS');
});

test('archives and metadata can be added while a deposit is partial', (t) => {
  const content = { archive: secondArchive, entry: aliceEntry };
  given(t, depositCreated)
    .when(changeDeposit({ kind: 'add-content', ...content }))
    .thenEvents({ type: 'ArchiveAdded', data: { depositId: 1, archive: secondArchive } }, metadataAdded);
});

test('replacing retains only the newest content', (t) => {
  const past = [depositCreated, archiveAdded, metadataAdded];
  const replaced: DepositEvent = { type: 'ArchivesReplaced', data: { depositId: 1, archive: secondArchive } };
  given(t, ...past)
    .when(changeDeposit({ kind: 'replace-content', archive: secondArchive, entry: null }))
    .thenEvents(replaced);
  t.like(given(t, ...past, replaced).state(), {
    archives: [{ ...secondArchive, number: 2 }],
    entries: [aliceEntry],
  });
});

test('removing the archives leaves the deposit partial', (t) => {
  const removed: DepositEvent = { type: 'ArchivesRemoved', data: { depositId: 1 } };
  given(t, depositCreated, archiveAdded)
    .when(changeDeposit({ kind: 'remove-archives' }))
    .thenEvents(removed);
  t.like(given(t, depositCreated, archiveAdded, removed).state(), { status: 'partial', archives: [] });
  given(t, depositCreated)
    .when(changeDeposit({ kind: 'remove-archives' }))
    .thenNothing();
});

test('an archive is replaced under its number, and numbers are never reused', (t) => {
  const data = { depositId: 1 };
  const second: DepositEvent = { type: 'ArchiveAdded', data: { ...data, archive: secondArchive } };
  const replaced: DepositEvent = {
    type: 'ArchiveReplaced',
    data: { ...data, number: 1, archive: secondArchive },
  };
  const removed: DepositEvent = { type: 'ArchiveRemoved', data: { ...data, number: 2 } };
  const past = [depositCreated, archiveAdded, second];
  given(t, ...past)
    .when(changeDeposit({ kind: 'replace-archive', number: 1, archive: secondArchive }))
    .thenEvents(replaced);
  given(t, ...past)
    .when(changeDeposit({ kind: 'remove-archive', number: 2 }, { isFinal: true, now }))
    .thenEvents(removed, depositCompleted(now));
  t.like(given(t, ...past, replaced, removed, archiveAdded).state(), {
    archives: [
      { ...secondArchive, number: 1 },
      { ...aliceArchive, number: 3 },
    ],
    archivesEver: 3,
  });
  for (const kind of ['replace-archive', 'remove-archive'] as const) {
    given(t, ...past, removed)
      .when(changeDeposit({ kind, number: 2, archive: secondArchive }))
      .thenRefused('ARCHIVE_NOT_FOUND');
  }
});

test('the final change completes the deposit in the same append', (t) => {
  given(t, depositCreated, archiveAdded)
    .when(changeDeposit({ kind: 'add-content', archive: null, entry: aliceEntry }, { isFinal: true, now }))
    .thenEvents(metadataAdded, depositCompleted(now));
});

for (const type of ['DepositCompleted', 'DepositVerified', 'LoadingStarted', 'DepositLoaded'] as const) {
  test(`after ${type} a deposit refuses changes and deletion`, (t) => {
    const past = wayTo(type);
    given(t, ...past)
      .when(changeDeposit({ kind: 'add-content', archive: aliceArchive, entry: null }))
      .thenRefused('DEPOSIT_NOT_PARTIAL');
    given(t, ...past)
      .when({ type: 'DeleteDeposit', depositId: 1, reason: '' })
      .thenRefused('DEPOSIT_NOT_PARTIAL');
  });

  test(`after ${type} completing again changes nothing`, (t) => {
    given(t, ...wayTo(type))
      .when({ type: 'CompleteDeposit', depositId: 1, now })
      .thenNothing();
  });
}

test('a deleted deposit does not exist', (t) => {
  for (const command of [
    changeDeposit({ kind: 'remove-archives' }),
    { type: 'CompleteDeposit', depositId: 1, now },
    { type: 'DeleteDeposit', depositId: 1, reason: '' },
    { type: 'RetryChecks', depositId: 1 },
  ] as const) {
    given(t, depositCreated, depositDeleted).when(command).thenRefused('DEPOSIT_NOT_FOUND');
  }
});

test('the number of archives and entries of a deposit is limited', (t) => {
  const archives = Array.from({ length: 3 }, () => archiveAdded);
  given(t, depositCreated, ...archives)
    .when(changeDeposit({ kind: 'add-content', archive: aliceArchive, entry: null }))
    .thenRefused('TOO_MANY_ARCHIVES');
  t.notThrows(() => assertArchives(3, 3));
  t.throws(() => assertArchives(4, 3), { code: 'TOO_MANY_ARCHIVES' });
  const entries = Array.from({ length: MAX_ENTRIES }, () => metadataAdded);
  given(t, depositCreated, ...entries)
    .when(changeDeposit({ kind: 'add-content', archive: null, entry: aliceEntry }))
    .thenRefused('TOO_MANY_ENTRIES');
});

test('a deposit with more archives than a lower limit allows may be changed, but gets none more', (t) => {
  const archives = Array.from({ length: 3 }, () => archiveAdded);
  const above = given(t, depositCreated, ...archives);
  const change = (what: Parameters<typeof changeDeposit>[0]) => changeDeposit(what, { maxArchives: 1 });
  above.when(change({ kind: 'remove-archive', number: 2 })).thenTypes('ArchiveRemoved');
  above
    .when(change({ kind: 'replace-archive', number: 2, archive: secondArchive }))
    .thenTypes('ArchiveReplaced');
  above.when(change({ kind: 'add-content', archive: null, entry: aliceEntry })).thenTypes('MetadataAdded');
  above
    .when(change({ kind: 'add-content', archive: aliceArchive, entry: null }))
    .thenRefused('TOO_MANY_ARCHIVES');
});

test('the number of changes of a deposit is limited; final ones are always accepted', (t) => {
  const replaced: DepositEvent = { type: 'MetadataReplaced', data: { depositId: 1, entry: aliceEntry } };
  const replace = { kind: 'replace-content', archive: null, entry: aliceEntry } as const;
  const most = [depositCreated, ...Array.from({ length: MAX_CHANGES - 1 }, () => replaced)];
  given(t, ...most)
    .when(changeDeposit(replace))
    .thenEvents(replaced);
  const full = given(t, ...most, replaced);
  const alone = { ...replace, archive: aliceArchive, entry: null };
  for (const change of [replace, alone, { ...replace, kind: 'add-content' } as const])
    full.when(changeDeposit(change)).thenRefused('TOO_MANY_CHANGES');
  full.when(changeDeposit(replace, { isFinal: true, now })).thenEvents(replaced, depositCompleted(now));
  full.when({ type: 'CompleteDeposit', depositId: 1, now }).thenEvents(depositCompleted(now));
  full.when({ type: 'DeleteDeposit', depositId: 1, reason: '' }).thenEvents({
    type: 'DepositDeleted',
    data: { depositId: 1, reason: '' },
  });
});

test('an origin must be below the provider URL, compared by whole segments', (t) => {
  const naming = (url: string) =>
    createDeposit({ entry: entryWith({ origin: { relation: 'create', url } }) });
  const allowed = [
    'https://alice.example/software',
    'https://alice.example/software/x',
    'https://ALICE.example/software/y',
  ];
  for (const url of allowed)
    given(t)
      .when(naming(url))
      .thenTypes('DepositCreated', 'ArchiveAdded', 'MetadataAdded', 'DepositCompleted');
  const foreign = [
    'https://alice.example/softwarez',
    'https://alice.example.evil/software/x',
    'http://alice.example/software/x',
    'https://alice.example/software/../other',
    'https://alice.example/software/../softwarez/x',
    'https://alice.example@evil.example/software/x',
    'not a url',
    // Programs read these in different ways, or as below the URL although they do not begin with it.
    'https://alice.example\\software\\@evil.example/',
    'https:alice.example/software/x',
    'https:/\\alice.example/software/x',
    'https://alice.exa\tmple/software/x',
    'https://alice.example/software/\u202ex',
    'https://alice.example/software/x\u200b',
    'https://alice.example/other/../software/x',
    'https://alice.example/softwarez/../software/x',
    'https://alice.example:443/software/x',
    'https://alice.example/software/a b',
    'https://alice.example/software/\nx',
  ];
  for (const url of foreign) given(t).when(naming(url)).thenRefused('ORIGIN_OUTSIDE_PROVIDER');
  const longest = `https://alice.example/software/${'x'.repeat(1_024 - 31)}`;
  given(t)
    .when(naming(longest))
    .thenTypes('DepositCreated', 'ArchiveAdded', 'MetadataAdded', 'DepositCompleted');
  for (const url of [`${longest}x`, `https://alice.example/software/${'%'.repeat(600)}`])
    given(t).when(naming(url)).thenRefused('ORIGIN_TOO_LONG');
  given(t)
    .when(naming('https://alice.example/software/a b'))
    .thenRefused(
      'ORIGIN_OUTSIDE_PROVIDER',
      /contains a blank, a backslash, a control or an invisible character: percent-/,
    );
  given(t)
    .when({ ...naming('https://alice.example/software/x'), providerUrl: null })
    .thenRefused('ORIGIN_OUTSIDE_PROVIDER');
  given(t)
    .when({ ...naming('https://alice.example/x'), providerUrl: 'https://alice.example' })
    .thenTypes('DepositCreated', 'ArchiveAdded', 'MetadataAdded', 'DepositCompleted');
});

test('an entry with an external identifier or a provenance over its limit is refused', (t) => {
  const facts = [
    { externalIdentifier: 'x'.repeat(256) },
    { provenance: `https://alice.example/${'x'.repeat(491)}` },
  ];
  const longest = {
    externalIdentifier: 'x'.repeat(255),
    provenance: `https://alice.example/${'x'.repeat(490)}`,
  };
  given(t)
    .when(createDeposit({ entry: entryWith(longest), isFinal: false }))
    .thenTypes('DepositCreated', 'ArchiveAdded', 'MetadataAdded');
  for (const entry of facts.map((some) => entryWith(some))) {
    given(t).when(createDeposit({ entry })).thenRefused('VALUE_TOO_LONG');
    given(t, depositCreated)
      .when(changeDeposit({ kind: 'add-content', archive: null, entry }))
      .thenRefused('VALUE_TOO_LONG');
  }
});

test('the origin an entry names is recorded when the deposit is completed', (t) => {
  const url = 'https://alice.example/software/v1';
  const entry = entryWith({ origin: { relation: 'create', url } });
  const added: DepositEvent = { type: 'MetadataAdded', data: { depositId: 1, entry } };
  given(t, depositCreated, added)
    .when({ type: 'CompleteDeposit', depositId: 1, now })
    .thenEvents(depositCompleted(now, url));
});

test('checks verify or reject a deposit, once', (t) => {
  const verified = {
    type: 'RecordVerified',
    depositId: 1,
    attempt: 1,
    readings: [reading],
    warnings: [],
  } as const;
  const rejected = {
    type: 'RecordRejected',
    depositId: 1,
    attempt: 1,
    reasons: [noArchive],
    warnings: [],
  } as const;
  const past = wayTo('DepositCompleted');
  given(t, ...past)
    .when(verified)
    .thenEvents(depositVerified);
  given(t, ...past)
    .when(rejected)
    .thenEvents(depositRejected);
  for (const outcome of [verified, rejected]) {
    given(t, ...past, depositVerified)
      .when(outcome)
      .thenNothing();
    given(t, ...past, depositRejected)
      .when(outcome)
      .thenNothing();
  }
});

test('a late result of an earlier check changes nothing after a retry', (t) => {
  const retried: DepositEvent = { type: 'ChecksRetried', data: { depositId: 1, attempt: 2 } };
  const past = [...wayTo('DepositCompleted'), depositRejected];
  given(t, ...past)
    .when({ type: 'RetryChecks', depositId: 1 })
    .thenEvents(retried);
  given(t, ...past, retried)
    .when({ type: 'RecordVerified', depositId: 1, attempt: 1, readings: [reading], warnings: [] })
    .thenNothing();
  given(t, ...past, retried)
    .when({ type: 'RecordRejected', depositId: 1, attempt: 1, reasons: [noArchive], warnings: [] })
    .thenNothing();
  given(t, ...past, retried)
    .when({ type: 'RecordVerified', depositId: 1, attempt: 2, readings: [reading], warnings: [] })
    .thenTypes('DepositVerified');
});

test('a waiting deposit can be retried, and a result of the earlier attempt changes nothing', (t) => {
  const checked: DepositEvent = { type: 'ChecksRetried', data: { depositId: 1, attempt: 2 } };
  given(t, ...wayTo('DepositCompleted'))
    .when({ type: 'RetryChecks', depositId: 1 })
    .thenEvents(checked);
  given(t, ...wayTo('DepositCompleted'), checked)
    .when({ type: 'RecordVerified', depositId: 1, attempt: 1, readings: [reading], warnings: [] })
    .thenNothing();
  const loaded: DepositEvent = { type: 'LoadingRetried', data: { depositId: 1, attempt: 2 } };
  for (const past of [wayTo('DepositVerified'), wayTo('LoadingStarted')]) {
    given(t, ...past)
      .when({ type: 'RetryLoading', depositId: 1 })
      .thenEvents(loaded);
    given(t, ...past, loaded)
      .when({ type: 'RecordLoaded', loaded: loadedData })
      .thenNothing();
    given(t, ...past, loaded)
      .when({ type: 'StartLoading', depositId: 1, attempt: 2 })
      .thenTypes('LoadingStarted');
  }
});

test('an unreadable object is recorded once for each object and fault, and changes no status', (t) => {
  const record = { type: 'RecordUnreadable', depositId: 1, copy: unreadableCopy } as const;
  const past = wayTo('DepositCompleted');
  given(t, ...past)
    .when(record)
    .thenEvents(copyUnreadable);
  given(t, ...past, copyUnreadable)
    .when(record)
    .thenNothing();
  const damaged = { ...record, copy: { ...unreadableCopy, code: 'OBJECT_CORRUPT' } } as const;
  given(t, ...past, copyUnreadable)
    .when(damaged)
    .thenTypes('CopyUnreadable');
  t.like(given(t, ...past, copyUnreadable).state(), { status: 'deposited', unreadable: unreadableCopy });
  const listing = { ...record, copy: { ...unreadableCopy, work: 'load', object: reading.listing } } as const;
  for (const status of ['verified', 'loading']) {
    const waiting = wayTo(status === 'verified' ? 'DepositVerified' : 'LoadingStarted');
    given(t, ...waiting)
      .when(listing)
      .thenTypes('CopyUnreadable');
    const unread: DepositEvent = { type: 'CopyUnreadable', data: { depositId: 1, ...listing.copy } };
    t.like(given(t, ...waiting, unread).state(), { status, unreadable: listing.copy });
  }
});

test('events that end or restart work clear the unreadable object', (t) => {
  const past = [...wayTo('DepositCompleted'), copyUnreadable];
  const retried: DepositEvent = { type: 'ChecksRetried', data: { depositId: 1, attempt: 2 } };
  for (const next of [depositVerified, depositRejected, retried]) {
    t.false('unreadable' in given(t, ...past, next).state(), next.type);
  }
});

test('a late fault of an object changes nothing', (t) => {
  const record = { type: 'RecordUnreadable', depositId: 1, copy: unreadableCopy } as const;
  const retried: DepositEvent = { type: 'ChecksRetried', data: { depositId: 1, attempt: 2 } };
  for (const past of [
    wayTo('MetadataAdded'),
    [...wayTo('DepositCompleted'), retried],
    wayTo('DepositVerified'),
    wayTo('DepositLoaded'),
  ]) {
    given(t, ...past)
      .when(record)
      .thenNothing();
  }
});

test('a deposit that is done is neither checked nor loaded again', (t) => {
  given(t, ...wayTo('DepositLoaded'))
    .when({ type: 'RetryChecks', depositId: 1 })
    .thenRefused('DEPOSIT_NOT_REJECTED');
  given(t, ...wayTo('DepositLoaded'))
    .when({ type: 'RetryLoading', depositId: 1 })
    .thenRefused('DEPOSIT_NOT_FAILED');
  given(t, ...wayTo('DepositCompleted'))
    .when({ type: 'RetryLoading', depositId: 1 })
    .thenRefused('DEPOSIT_NOT_FAILED');
  given(t, ...wayTo('LoadingStarted'), loadingFailed)
    .when({ type: 'RetryLoading', depositId: 1 })
    .thenEvents({ type: 'LoadingRetried', data: { depositId: 1, attempt: 2 } });
});

test('a late result of an earlier load changes nothing after a retry', (t) => {
  const retried: DepositEvent = { type: 'LoadingRetried', data: { depositId: 1, attempt: 2 } };
  const startedAgain: DepositEvent = { type: 'LoadingStarted', data: { depositId: 1, attempt: 2 } };
  const past = [...wayTo('LoadingStarted'), loadingFailed, retried];
  given(t, ...past)
    .when({ type: 'StartLoading', depositId: 1, attempt: 1 })
    .thenNothing();
  for (const attempt of [1, 2]) {
    const outcomes = [
      { type: 'RecordLoaded', loaded: { ...loadedData, attempt } },
      { type: 'RecordLoadingFailed', depositId: 1, attempt, reason: broken },
    ] as const;
    const [loaded, failed] = outcomes.map((one) => given(t, ...past, startedAgain).when(one));
    loaded?.thenTypes(...(attempt === 2 ? ['DepositLoaded'] : []));
    failed?.thenTypes(...(attempt === 2 ? ['LoadingFailed'] : []));
  }
});

test('loading starts once and ends once', (t) => {
  const start = { type: 'StartLoading', depositId: 1, attempt: 1 } as const;
  given(t, ...wayTo('DepositVerified'))
    .when(start)
    .thenEvents(loadingStarted);
  given(t, ...wayTo('LoadingStarted'))
    .when(start)
    .thenNothing();
  const loaded = { type: 'RecordLoaded', loaded: loadedData } as const;
  given(t, ...wayTo('LoadingStarted'))
    .when(loaded)
    .thenEvents(depositLoaded);
  given(t, ...wayTo('DepositLoaded'))
    .when(loaded)
    .thenNothing();
  const failed = { type: 'RecordLoadingFailed', depositId: 1, attempt: 1, reason: broken } as const;
  given(t, ...wayTo('LoadingStarted'))
    .when(failed)
    .thenEvents(loadingFailed);
  given(t, ...wayTo('DepositLoaded'))
    .when(failed)
    .thenNothing();
});
