import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { readConfig } from '../../../../src/config/read-config.ts';
import { publicAnchorKey } from '../../../../src/modules/anchors/anchor-key.ts';
import { makeAnchor } from '../../../../src/modules/anchors/make-anchor.ts';
import { tarOf } from '../../../../testing/archives/archive-builders.ts';
import { depositOf, HOSTILE_TEXTS } from '../../../../testing/browser/console-deposits.ts';
import { consoleTests } from '../../../../testing/browser/console-tests.ts';
import { appendFailedDeposit } from '../../../../testing/browser/picture-deposits.ts';
import { rewriteStream } from '../../../../testing/event-log/tampering.ts';
import {
  archiveHeaders,
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  helloEntry,
  partial,
} from '../../../../testing/http/deposit-bodies.ts';
import { depositIdOf, makeDeposit } from '../../../../testing/http/made-deposits.ts';
import type { TestClient } from '../../../../testing/http/test-client.ts';
import { until } from '../../../../testing/processes/until.ts';
import { RunningService } from '../../../../testing/service/running-service.ts';

const test = consoleTests({ alice: { collections: ['software'] } });

const XSS = '<img src=x onerror=alert(1)>';
/** A name whose end is written from right to left: a reader would take it for `evil-cod.exe`. */
const BIDI = 'evil-\u202eexe.doc';

test('an auditor sees every action and its actor, proves it, and verifies the evidence offline', async (t, open) => {
  const { service, alice } = t.context;
  const id = await deposited(alice);
  const key = await anchored(service);
  const status = await (await alice.get(`/1/software/${id}/status/`)).text();
  const [swhid = 'no SWHID'] = /swh:1:dir:[0-9a-f]{40}/.exec(status) ?? [];
  const archive = (await Array.fromAsync(service.service.log.readStream(`deposit-${id}`))).find(
    ({ type }) => type === 'ArchiveAdded',
  )?.data['archive'] as { sha256: string };
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits?swhid=${swhid}`);
  await page.getByRole('link', { name: String(id), exact: true }).click();
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('Deposit created in the collection software.').waitFor();
  await events.getByRole('list').getByText('client alice').first().waitFor();
  await events.getByText('✔ hash').first().waitFor();

  await page.getByLabel('As of').fill('0');
  await page.getByRole('heading', { name: 'Event #0: DepositCreated' }).waitFor();
  t.regex(page.url(), /at=0/);
  await page.getByLabel('Type').selectOption('ArchiveAdded');
  await events.getByText('1 of 7 events').waitFor();
  await events.getByText('Archive p.tar added').click();
  await page.getByText(archive.sha256).first().waitFor();
  await page.getByLabel('Type').selectOption('all');
  await events.getByText('Deposit loaded').click();
  await page.getByRole('heading', { name: /Event #\d: DepositLoaded/ }).waitFor();
  await page.getByRole('cell', { name: 'loading' }).first().waitFor();
  await page.getByText('loaded-objects').click();

  await page.getByRole('link', { name: 'Proof' }).click();
  await page.getByLabel('Public keys').fill(key);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  for (const step of [
    'Hash chain',
    'Signature of the anchor',
    'Root of the log',
    'Chain of anchors',
    'Identifiers',
  ])
    await page.getByText(`✔ ${step}: proven`).waitFor();
  const verifier = await saved(page, 'link', 'Save the verifier');
  const evidence = await saved(page, 'button', 'Save the evidence');
  const documented = await readFile(new URL('../../../../docs/auditing.md', import.meta.url), 'utf8');
  const [digest = 'no digest'] = /^[0-9a-f]{64}$/m.exec(documented) ?? [];
  await page.getByText(digest).waitFor();

  const offline = await offlineVerifier(page, verifier);
  await offline.getByLabel('Evidence file').setInputFiles(evidence);
  await offline.getByText('nothing is broken, but not everything is shown').waitFor();
  await offline.getByLabel('Public keys').fill(key);
  await offline.getByText('everything is proven').waitFor();
});

test('a proof whose data were not read says so: it is not finished, or names what is missing', async (t, open) => {
  const { service, alice } = t.context;
  const id = await deposited(alice);
  const key = await anchored(service);
  const tab = await open({ role: 'auditor' });
  const { page } = tab;
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByLabel('Public keys').fill(key);
  const prove = page.getByRole('button', { name: `Prove deposit ${id}` });
  const answers = [{ status: 503 }, { status: 401 }, { status: 413 }];
  await page.route('**/manifest', (route) => {
    const answer = answers.shift();
    return answer ? route.fulfill(answer) : route.continue();
  });
  for (const status of [503, 401]) {
    await prove.click();
    await page
      .getByText(`The service answered ${status} for /console/api/deposits/${id}/manifest.`)
      .waitFor();
    await page.getByText('The proof was not finished.').waitFor();
    t.is(await page.getByText('Hash chain').count(), 0);
    t.is(await page.getByRole('button', { name: 'Save the evidence' }).count(), 0);
  }
  await prove.click();
  const missing = 'nothing is broken, but not everything is shown: Identifiers.';
  await page.getByText(`Finished: ${missing}`).waitFor();
  const evidence = await saved(page, 'button', 'Save the evidence');
  const verifier = await saved(page, 'link', 'Save the verifier');
  await prove.click();
  await page.getByText('Finished: everything is proven.').waitFor();
  await page.route('**/console/api/anchors', (route) => route.abort('connectionrefused'));
  await prove.click();
  await page.getByRole('alert').getByText('The service does not answer.').waitFor();
  const offline = await offlineVerifier(page, verifier);
  await offline.getByLabel('Evidence file').setInputFiles(evidence);
  await offline.getByLabel('Public keys').fill(key);
  await offline.getByText(missing).waitFor();
  tab.forgive(/status of (?:503|401|413)|ERR_CONNECTION_REFUSED/);
});

test('one byte changed in the log: the page and the offline verifier name the event', async (t, open) => {
  const { service, alice } = t.context;
  const id = await deposited(alice);
  await anchored(service);
  const revision = changeOneByte(path.join(service.folder, 'event-log.sqlite'), `deposit-${id}`);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}`);
  const fault = `Event #${revision} does not carry the hash of its contents.`;
  await page.getByText(`✖ Event #${revision}: does not carry the hash of its contents`).waitFor();
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  await page.getByText('✖ Hash chain: broken').waitFor();
  await page.getByText(fault).waitFor();
  await page
    .getByRole('link', { name: `Open event #${revision}` })
    .first()
    .waitFor();
  const offline = await offlineVerifier(page, await saved(page, 'link', 'Save the verifier'));
  await offline.getByLabel('Evidence file').setInputFiles(await saved(page, 'button', 'Save the evidence'));
  await offline.getByText(fault).waitFor();
  await offline.getByRole('status').filter({ hasText: 'BROKEN' }).waitFor();
  for (const [contents, seen] of [
    ['{', 'cannot be read'],
    [`{"evidence":1,"deposit":1,"service":"${XSS}"}`, 'its service is missing'],
  ] as const) {
    const buffer = Buffer.from(contents);
    await offline
      .getByLabel('Evidence file')
      .setInputFiles({ name: XSS, mimeType: 'application/json', buffer });
    await offline.getByText(seen).waitFor();
  }
  t.is(await offline.locator('img').count(), 0);
});

test('the offline verifier shows the file chosen last, also if one chosen before is read later', async (t, open) => {
  const { service, alice } = t.context;
  const id = await deposited(alice);
  await anchored(service);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  const evidence = await readFile(await saved(page, 'button', 'Save the evidence'));
  const offline = await offlineVerifier(page, await saved(page, 'link', 'Save the verifier'));
  // The file slow.json is read when the test says so.
  await offline.evaluate(`{
    const read = Blob.prototype.text;
    Blob.prototype.text = async function () {
      if (this.name === 'slow.json') await new Promise((resolve) => { globalThis.readSlow = resolve; });
      return read.call(this);
    };
  }`);
  const verdict = offline.locator('#verdict');
  const choose = (name: string, buffer: Buffer): Promise<void> =>
    offline.getByLabel('Evidence file').setInputFiles({ name, mimeType: 'application/json', buffer });
  const malformed = Buffer.from('{');
  for (const [slow, quick, seen, steps] of [
    [malformed, evidence, /^– nothing is broken, .*\. Deposit \d+ of http/, 5],
    [evidence, malformed, /^✖ The evidence cannot be read: quick\.json\. /, 0],
    [evidence, undefined, /^No evidence is chosen\.$/, 0],
  ] as const) {
    await choose('slow.json', slow);
    await offline.getByText('Reading slow.json…').waitFor();
    if (quick) await choose('quick.json', quick);
    else await offline.getByLabel('Evidence file').setInputFiles([]);
    await verdict.filter({ hasText: seen }).waitFor({ timeout: 10_000 });
    await offline.evaluate('readSlow()');
    await offline.evaluate('new Promise((resolve) => setTimeout(resolve, 500))'); // in which the slow file is verified
    t.regex((await verdict.textContent()) ?? '', seen);
    t.is(await offline.locator('#steps li').count(), steps);
  }
});

test('a changed file that is chosen again under its name is verified and hashed again', async (t, open) => {
  const id = await deposited(t.context.alice);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  const evidence = await saved(page, 'button', 'Save the evidence');
  const offline = await offlineVerifier(page, await saved(page, 'link', 'Save the verifier'));
  const bytes = page.getByRole('region', { name: 'Bytes' });
  for (const [tab, field, result, before, seen, after] of [
    [
      offline,
      offline.getByLabel('Evidence file'),
      offline.locator('#verdict'),
      'No evidence is chosen.',
      '– nothing is broken',
      '✖ The evidence cannot be read',
    ],
    [page, bytes.getByLabel('Hash an archive'), bytes.getByRole('status'), '', '✖ deposit', '✖ deposit'],
  ] as const) {
    for (const text of [seen, after]) {
      const chooser = tab.waitForEvent('filechooser');
      await field.click(); // Chromium reports no change if the same name is chosen then
      t.is(await field.inputValue(), '');
      t.is(await result.textContent(), before);
      await (await chooser).setFiles(evidence);
      await result.filter({ hasText: text }).waitFor({ timeout: 10_000 });
      await writeFile(evidence, '{');
    }
  }
});

test('hidden characters of evidence are marked, and the outcome comes first', async (t, open) => {
  const { service, alice } = t.context;
  const id = await deposited(alice);
  await anchored(service);
  const { page } = await open({ role: 'auditor' });
  await page.route(/\/events\?from=0$/, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { events: { stream: string }[] };
    Object.assign(json.events[0] ?? {}, { stream: BIDI });
    await route.fulfill({ response, json });
  });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
  const step = page.locator('.steps li').filter({ hasText: 'Hash chain' });
  await step.getByText('is of the stream evil-U+202Eexe.doc').waitFor({ timeout: 10_000 });
  const evidence = await saved(page, 'button', 'Save the evidence');
  const offline = await offlineVerifier(page, await saved(page, 'link', 'Save the verifier'));
  const choose = (text: string): Promise<void> =>
    offline
      .getByLabel('Evidence file')
      .setInputFiles({ name: BIDI, mimeType: 'application/json', buffer: Buffer.from(text) });
  const verdict = offline.locator('#verdict');
  await choose(await readFile(evidence, 'utf8'));
  await verdict
    .filter({ hasText: /^✖ BROKEN: .*\. Deposit \d+ of http:.*, evidence saved \S+\.$/ })
    .waitFor();
  await offline.getByText('is of the stream evil-[U+202E]exe.doc').waitFor();
  await choose(BIDI);
  const marked = /^✖ The evidence cannot be read: evil-\[U\+202E\]exe\.doc\. .*evil-\[U\+202E\]/;
  await verdict.filter({ hasText: marked }).waitFor();
  t.false((await offline.textContent('body'))?.includes('\u202e'));
});

test('an event whose time was changed to another text is shown with it, and named as changed', async (t, open) => {
  const { alice } = t.context;
  const id = await deposited(alice);
  const { page } = await open({ role: 'auditor' });
  await page.route(/\/events\?from=0$/, async (route) => {
    const answer = await route.fetch();
    const stream = (await answer.json()) as { events: { metadata: Record<string, unknown> }[] };
    Object.assign(stream.events[0]?.metadata ?? {}, { occurredAt: 'long ago' });
    await route.fulfill({ response: answer, json: stream });
  });
  await page.goto(`/console/deposits/${id}?at=0`);
  await page.getByText('✖ Event #0: does not carry the hash of its contents').waitFor();
  await page.getByRole('status').getByText('#0 · long ago').waitFor();
  t.pass();
});

test('each event of a history from which one was removed is opened by its number', async (t, open) => {
  const { alice } = t.context;
  const id = await deposited(alice);
  const { page } = await open({ role: 'auditor' });
  await page.route(/\/events\?from=0$/, async (route) => {
    const answer = await route.fetch();
    const stream = (await answer.json()) as { events: unknown[] };
    await route.fulfill({ response: answer, json: { ...stream, events: stream.events.toSpliced(1, 1) } });
  });
  await page.goto(`/console/deposits/${id}?at=2`);
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('✖ Event #2: is where revision 1 is expected').waitFor();
  for (const revision of [2, 3]) {
    await events.getByText(`#${revision}`, { exact: true }).click();
    await page.getByRole('heading', { name: `Event #${revision}: ` }).waitFor();
    t.regex((await page.locator('.events a[aria-current]').textContent()) ?? '', new RegExp(`#${revision} `));
  }
  await page.getByLabel('As of').fill('1');
  await page.getByRole('heading', { name: 'Event #2: ' }).waitFor();
});

test('a proof reads a log of many pages with all its anchors, and names the anchor that a change invalidates', async (t, open) => {
  const data = path.join(t.context.service.folder, 'many');
  await generatedLog(data, 3000);
  await using service = await RunningService.startIn(data);
  const key = await anchored(service);
  await service.register('dora');
  await anchored(service);
  const { page } = await open({ role: 'auditor', service });
  const proven = async (id: number): Promise<void> => {
    await page.goto(`/console/deposits/${id}?tab=proof`);
    await page.getByLabel('Public keys').fill(key);
    await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
    await page.getByText(/^Finished: /).waitFor();
  };
  for (const id of [2, 2999]) {
    await proven(id);
    await page.getByText(/over 21,\d{3} events were recomputed/).waitFor();
    for (const step of ['Hash chain', 'Signature of the anchor', 'Root of the log', 'Chain of anchors'])
      await page.getByText(`✔ ${step}: proven`).waitFor();
  }
  const stream = rewriteStream(path.join(data, 'event-log.sqlite'));
  t.not(stream, 'deposit-2');
  await proven(2);
  await page.getByText('✔ Hash chain: proven').waitFor();
  await page.getByText('✖ Root of the log: broken').waitFor();
  await page.getByText(/The anchor of .* does not have the root/).waitFor();
  t.is(await page.getByText('✔').count(), 2, 'the chain and the signature alone');
});

test('files are shown as text, with hidden characters visible, lines selected and versions compared', async (t, open) => {
  const { service } = t.context;
  const bob = await service.register('bob', {
    collections: ['software'],
    providerUrl: 'https://bob.example/',
  });
  const first = await deposited(
    bob,
    { 'p/README': 'one\n', 'p/gone': 'x', 'p/same/a': 'a' },
    'create_origin',
  );
  const id = await deposited(
    bob,
    { 'p/README': `one\ntwo \u2067\nthree\n`, [`p/${BIDI}`]: 'x', [`p/${XSS}`]: XSS, 'p/same/a': 'a' },
    'add_to_origin',
  );
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}?tab=files`);
  const directory = page.getByRole('region', { name: 'Directory' });
  await directory.getByRole('link', { name: 'p/' }).click();
  await directory.getByRole('link', { name: 'evil-U+202Eexe.doc' }).waitFor();
  await directory.getByRole('link', { name: XSS }).waitFor();
  await directory.getByRole('link', { name: 'README' }).click();
  await page.getByText('U+2067').waitFor();
  await page.getByRole('link', { name: 'Line 2' }).click();
  await page.getByRole('link', { name: 'Line 3' }).click({ modifiers: ['Shift'] });
  await page
    .getByText(/^swh:1:cnt:[0-9a-f]{40};origin=https:\/\/bob\.example\/p;.*;path=\/p\/README;lines=2-3$/)
    .waitFor();
  t.regex(page.url(), /lines=2-3/);
  const [content = ''] =
    /swh:1:cnt:[0-9a-f]{40}/.exec((await page.getByText(/;lines=2-3$/).textContent()) ?? '') ?? [];
  await page.goto(`/console/search?q=${content}`);
  await page.waitForURL(/tab=files&path=p%2FREADME$/);
  await page.getByRole('link', { name: 'Line 2' }).waitFor();
  await page.goto(`/console/search?q=${content};lines=2-3`);
  await page.waitForURL(/tab=files&path=p%2FREADME&lines=2-3$/);
  await page.getByText('Lines 2-3:').waitFor();
  const file = await saved(page, 'link', 'Download the file');
  t.is(await readFile(file, 'utf8'), 'one\ntwo \u2067\nthree\n');

  await page.getByLabel('Compare with').selectOption(String(first));
  await page.getByText('4 paths differ').waitFor();
  for (const text of ['added: p/evil-', 'removed: p/gone', 'changed: p/README'])
    await page.getByText(text).waitFor();
  t.is(await page.getByText('p/same').count(), 0);
  await page.getByRole('heading', { name: `Lines that differ from deposit ${first}: 2` }).waitFor();
  const changed = page.getByRole('region', { name: 'Differences' });
  await changed.getByRole('row', { name: '1 1 one' }).waitFor();
  await changed.getByRole('row', { name: '2 + two U+2067' }).waitFor();
});

test('names that differ only in spaces, or in bytes that are not UTF-8, look different', async (t, open) => {
  const names = [
    'a b',
    'a  b',
    'a\tb',
    'a\nb',
    'a b ',
    ' ',
    '\n',
    'bad\\xff',
    Buffer.from('bad\xff', 'latin1'),
  ];
  const members = names.map((name, index) => ({
    name: Buffer.concat([Buffer.from('n/'), Buffer.from(name)]),
    data: String(index),
  }));
  const id = await depositOf(t.context.alice, {
    title: 'Spaces',
    filename: 'n.tar',
    tar: tarOf(members),
  });
  const tab = await open({ role: 'operator' });
  const { page } = tab;
  await page.goto(`/console/deposits/${id}?tab=files&path=n`);
  const directory = page.getByRole('region', { name: 'Directory' });
  await directory.getByRole('link', { name: 'bad', exact: false }).first().waitFor();
  const shown = await directory
    .locator('tbody td:first-child a')
    .evaluateAll((links) =>
      (links as unknown as readonly { innerText: string; innerHTML: string }[]).map(
        ({ innerText, innerHTML }) => `${innerText}${innerHTML.includes('mark') ? ' *' : ''}`,
      ),
    );
  t.deepEqual(
    shown.toSorted(),
    [
      'U+000A *',
      'U+0020 *',
      'a bU+0020 *',
      'a b',
      'aU+0009b *',
      'aU+000Ab *',
      'aU+0020U+0020b *',
      'bad\\xff',
      'bad\\xff *',
    ].toSorted(),
  );
  t.deepEqual(await tab.accessibilityFaults(), []);
  await directory.getByRole('link', { name: 'U+0020', exact: true }).click();
  await page.locator('.breadcrumb').getByText('U+0020').waitFor();
});

test('a file whose last line feed alone differs is said to differ in that', async (t, open) => {
  const { service } = t.context;
  const providerUrl = 'https://grace.example/';
  const grace = await service.register('grace', { collections: ['software'], providerUrl });
  const first = await deposited(grace, { 'p/README': 'one\ntwo\n' }, 'create_origin');
  const id = await deposited(grace, { 'p/README': 'one\ntwo' }, 'add_to_origin');
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}?tab=files&path=p/README&with=${first}`);
  await page
    .getByText('differ only in whether the last line ends with a line feed')
    .waitFor({ timeout: 20_000 });
  t.is(await page.getByRole('region', { name: 'Differences' }).count(), 0);
});

test('the chosen lines of a file come into view when it is opened, and a reload keeps the place', async (t, open) => {
  const lines = Array.from({ length: 900 }, (_, line) => `line ${line}\n`).join('');
  const id = await deposited(t.context.alice, { 'p/lines': lines });
  const { page } = await open({ role: 'operator', height: 600 });
  const isSeen = async (line: number): Promise<boolean> => {
    const row = page.getByRole('link', { name: `Line ${line}`, exact: true });
    const { y = -1 } = (await row.boundingBox()) ?? {};
    return y > 100 && y < 500;
  };
  await page.goto(`/console/deposits/${id}?tab=files&path=p/lines&lines=500-700`);
  await until(() => isSeen(500));
  await page.evaluate('window.scrollTo(0, 77)');
  await until(() => page.evaluate<boolean>('history.state?.top === 77'));
  await page.reload();
  await page.getByRole('link', { name: 'Line 500', exact: true }).waitFor();
  await until(() => page.evaluate<boolean>('scrollY === 77'));
  await page.getByRole('link', { name: 'root', exact: true }).click();
  await page.getByRole('link', { name: 'p/', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Line 500', exact: true }).waitFor();
  await until(() => page.evaluate<boolean>('scrollY === 77'));
  const text = await page
    .locator('[aria-label=File] p')
    .getByTitle(/;lines=500-700$/)
    .getAttribute('title');
  await page.locator('#search').fill(text ?? '');
  await page.keyboard.press('Enter');
  await page.waitForURL(/&lines=500-700$/);
  await until(() => isSeen(500));
  t.pass();
});

const MIB = 1024 ** 2;

/** Files of at most 1 MiB that a browser needs minutes for if it lays them out whole. */
const HOSTILE_FILES = {
  line: 'x'.repeat(MIB),
  emoji: `x${'\u{1F600}'.repeat(2000)}`,
  lines: '\n'.repeat(MIB),
  accents: `a${'\u0301'.repeat(MIB / 2 - 1)}`,
  hidden: '\u202e'.repeat(MIB / 3),
  joined: '\u{1F468}\u200d'.repeat(MIB / 8),
  brackets: '([{<'.repeat(MIB / 4),
  source: 'const x = 1; // a comment of usual length\n'.repeat(20_000),
};

test('a hostile file of 1 MiB, and a directory of thousands of files, are shown page by page', async (t, open) => {
  const { alice } = t.context;
  const many = Array.from({ length: 2500 }, (_, index) => [`p/many/${String(index).padStart(4, '0')}`, '']);
  const files = Object.entries(HOSTILE_FILES).map(([name, text]) => [`p/${name}`, text]);
  const id = await deposited(alice, Object.fromEntries([...files, ...many]));
  const { page } = await open({ role: 'operator' });
  page.setDefaultTimeout(20_000);
  const lines = page.getByRole('region', { name: 'Lines' });
  for (const name of Object.keys(HOSTILE_FILES)) {
    await page.goto(`/console/deposits/${id}?tab=files&path=p/${name}`);
    await lines.waitFor();
    const size = await page.evaluate<number[]>(
      `[document.querySelectorAll('*').length, document.querySelector('.source').textContent.length]`,
    );
    t.true((size[0] ?? 0) < 6000 && (size[1] ?? 0) < 60_000, `${name}: ${size.join()}`);
  }
  await page.getByText('Lines 1–1,000 of 20,000').waitFor();
  await page.getByRole('link', { name: 'Later' }).first().click();
  await page.getByText('Lines 1,001–2,000 of 20,000').waitFor();
  t.is(await page.getByRole('link', { name: 'Line 1000', exact: true }).count(), 0);
  await page.goto(`/console/deposits/${id}?tab=files&path=p/source&lines=19998`);
  await page.locator('tr.chosen').getByRole('link', { name: 'Line 19998' }).waitFor();
  await page.getByRole('link', { name: 'Line 19999' }).click({ modifiers: ['Shift'] });
  await page.getByText('Lines 19998-19999:').waitFor();
  await page.goto(`/console/deposits/${id}?tab=files&path=p/line`);
  await lines.getByText('… 1,046,576 more characters').waitFor();
  await page.goto(`/console/deposits/${id}?tab=files&path=p/emoji`);
  await lines.getByText('… 2,002 more characters').waitFor();
  t.is(await lines.locator('mark').count(), 0);

  await page.goto(`/console/deposits/${id}?tab=files&path=p/many`);
  await page.getByText('Entries 1–1,000 of 2,500').waitFor();
  for (const [range, last] of [
    ['1,001–2,000', '1999'],
    ['2,001–2,500', '2499'],
  ] as const) {
    await page.getByRole('link', { name: 'Later' }).first().click();
    await page.getByText(`Entries ${range} of 2,500`).waitFor();
    await page.getByRole('link', { name: last, exact: true }).waitFor();
  }
  await page.getByRole('link', { name: '2499', exact: true }).click();
  await page.getByText('The file is empty.').waitFor();
});

test('before a deposit is loaded, its files are those of the check', async (t, open) => {
  const { service, alice } = t.context;
  const id = 5000; // is not reserved
  await appendFailedDeposit(service, id, await deposited(alice, { [`p/${BIDI}`]: 'x' }));
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByRole('heading', { name: 'p.tar' }).waitFor();
  await page.getByRole('cell', { name: 'p/evil-U+202Eexe.doc' }).waitFor();
  t.is(await page.getByRole('link', { name: /Download/ }).count(), 0);
});

test('the same bytes deposited under two names are listed once before they are loaded, under both', async (t, open) => {
  const { service, alice } = t.context;
  const id = 5002; // is not reserved
  const files = { 'p/README': 'hello\n' };
  const same = tarOf(Object.entries(files).map(([name, data]) => ({ name, data })));
  await appendFailedDeposit(service, id, await deposited(alice, files, undefined, same));
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByRole('heading', { name: 'p.tar, more.tar' }).waitFor({ timeout: 10_000 });
  t.is(await page.getByRole('navigation', { name: 'Archives' }).count(), 0);
  t.is(await page.getByRole('cell', { name: 'p/README' }).count(), 1);
});

test('all contents of archives that are not loaded are shown page by page, one archive at a time', async (t, open) => {
  const { service, alice } = t.context;
  const id = 5001; // is not reserved
  const many = Array.from({ length: 2500 }, (_, index) => [
    `p/${String(index).padStart(4, '0')}`,
    `${index}`,
  ]);
  const more = tarOf([{ name: 'q/one', data: '1' }]);
  await appendFailedDeposit(service, id, await deposited(alice, Object.fromEntries(many), undefined, more));
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByText('Entries 1–1,000 of 2,500').waitFor();
  await page
    .getByRole('button', { name: /^Copy swh:1:cnt:/ })
    .first()
    .click();
  const copied = page.getByText('✓').or(page.getByLabel('Text to copy'));
  await copied.waitFor();
  await page.getByRole('link', { name: 'Later' }).last().focus();
  await page.keyboard.press('Enter');
  await page.getByText('Entries 1,001–2,000 of 2,500').waitFor();
  const group = page.getByRole('group', { name: 'Entries 1,001–2,000 of 2,500' });
  await group.and(page.locator(':focus')).waitFor();
  t.true(((await group.boundingBox())?.y ?? -1) >= 0, 'the page begins in sight');
  await page.getByRole('cell', { name: 'p/1999' }).waitFor();
  t.is(await copied.count(), 0, 'nothing of this page is copied');
  await page.getByRole('link', { name: 'Later' }).first().click();
  await page.getByRole('cell', { name: 'p/2499' }).waitFor();
  await page.reload();
  await page.getByRole('cell', { name: 'p/2499' }).waitFor();
  await page.goBack();
  await page.getByRole('cell', { name: 'p/1999' }).waitFor();
  await page.goto(`/console/deposits/${id}?tab=files&from=9000`);
  await page.getByText('Entries 2,001–2,500 of 2,500').waitFor();
  await page.getByRole('navigation', { name: 'Archives' }).getByRole('link', { name: 'more.tar' }).click();
  await page.getByRole('cell', { name: 'q/one' }).waitFor();
  t.is(await page.getByRole('cell', { name: /^p/ }).count(), 0);
});

test('all differences between two versions are shown page by page, of paths and of lines', async (t, open) => {
  const { service } = t.context;
  const providerUrl = 'https://frank.example/';
  const frank = await service.register('frank', { collections: ['software'], providerUrl });
  const filesOf = (version: number) =>
    Object.fromEntries([
      ['p/lines', Array.from({ length: 900 }, (_, line) => `line ${line} of ${version}\n`).join('')],
      ...Array.from({ length: 1200 }, (_, index) => [`p/${version}/${index}`, '']),
    ]);
  const first = await deposited(frank, filesOf(1), 'create_origin');
  const id = await deposited(frank, filesOf(2), 'add_to_origin');
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}?tab=files&path=p/lines&with=${first}`);
  const next = async (parts: string, text: string): Promise<void> => {
    const group = page.getByRole('group', { name: parts });
    await group.getByRole('link', { name: 'Later' }).last().click();
    await page.getByText(text).waitFor();
  };
  await next('Differences 1–', 'Differences 1,001–2,000 of 2,401');
  await next('Differences 1,001–', 'Differences 2,001–2,401 of 2,401');
  await page.getByText('Lines with changes 1–1,000 of 1,800').waitFor();
  await next('Lines with changes', 'Lines with changes 1,001–1,800 of 1,800');
  await page.getByRole('row', { name: '900 + line 899 of 2' }).waitFor();
  await page.getByText('Differences 2,001–2,401 of 2,401').waitFor();
  await page.getByLabel('Compare with').selectOption('');
  t.is(new URL(page.url()).search, `?tab=files&path=p%2Flines`);
});

test('the files of a rejected deposit are shown as not accepted, rather than not read', async (t, open) => {
  const { service } = t.context;
  const erin = await service.register('erin', { collections: ['software'], domain: 'erin.example' });
  const id = await depositOf(erin, { status: 'rejected' });
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=files`);
  await page.getByText('No check has accepted the archives').waitFor({ timeout: 10_000 });
  t.is(await page.getByText('No check has read').count(), 0);
});

test('names and contents of files, and texts of events, are rendered as text, never as markup or script', async (t, open) => {
  const names = HOSTILE_TEXTS.map((text) => `p/${text.replaceAll(/[/\\\0]/g, '_')}`);
  const files = Object.fromEntries(names.map((name, index) => [name, HOSTILE_TEXTS[index] ?? '']));
  const id = await deposited(t.context.alice, files);
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}`);
  await page.getByText('✔ hash').first().waitFor();
  for (const event of await page.getByRole('region', { name: 'Events' }).getByRole('listitem').all()) {
    await event.getByRole('link').click();
    await page.getByText('Data and metadata').click();
  }
  await page.goto(`/console/deposits/${id}?tab=files&path=p`);
  const links = page.getByRole('region', { name: 'Directory' }).getByRole('cell').getByRole('link');
  await links.first().waitFor();
  t.is(await links.count(), names.length);
  for (let index = 0; index < names.length; index += 1) {
    await links.nth(index).click();
    await page.getByRole('region', { name: 'Lines' }).waitFor();
    await page.goBack();
    await links.first().waitFor();
  }
  t.is(await page.locator('main img, main script, main iframe, main svg:not([aria-hidden])').count(), 0);
});

test('an operator retries the checks of a rejected deposit on its page and sees the result', async (t, open) => {
  const { service, alice } = t.context;
  const answer = await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...final });
  const id = depositIdOf(answer);
  await alice.waitFor(`/1/software/${id}/status/`, 'rejected');
  const { page } = await open({ role: 'operator' });
  await page.goto(`/console/deposits/${id}`);
  await page.getByRole('button', { name: 'live' }).waitFor();
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByText(`npx deposit-service retry ${id} --recheck`).waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Check 1 deposit again' }).click();
  await page.getByText('Finished: 1 of 1 started again').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('Re-check requested (check 2).').waitFor();
  await events.getByText('Deposit rejected by check 2').waitFor();
  await events.getByRole('list').getByText('person operator').waitFor();
  t.like((await Array.fromAsync(service.service.log.readStream(`deposit-${id}`))).at(-1), {
    type: 'DepositRejected',
  });
});

test('the proof of a deleted deposit compares no archive: those that it had are not known any longer', async (t, open) => {
  const { alice } = t.context;
  const id = await depositOf(alice, { status: 'partial' });
  t.is((await alice.delete(`/1/software/${id}/metadata/`)).status, 204);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  await page.getByRole('button', { name: `Prove deposit ${id}` }).waitFor();
  t.is(await page.getByLabel('Hash an archive that you have').count(), 0);
});

test('an archive is hashed and compared, and a file that is not chosen any longer is not', async (t, open) => {
  const id = await deposited(t.context.alice);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  const bytes = page.getByRole('region', { name: 'Bytes' });
  const input = bytes.getByLabel('Hash an archive that you have');
  const other = { name: 'other.tar', mimeType: 'application/x-tar', buffer: Buffer.from('x') };
  await input.setInputFiles(other);
  await bytes.getByText('✖ other.tar is not an archive of this deposit').waitFor();
  await input.setInputFiles([]);
  await bytes.getByRole('status').filter({ hasText: /^$/ }).waitFor({ state: 'attached', timeout: 10_000 });
  await page.evaluate(`{
    const read = Blob.prototype.arrayBuffer;
    Blob.prototype.arrayBuffer = async function () {
      await new Promise((resolve) => { globalThis.readOther = resolve; });
      return read.call(this);
    };
  }`);
  await input.setInputFiles(other);
  await bytes.getByText('Hashing …').waitFor();
  await input.setInputFiles([]);
  await page.evaluate('readOther()');
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 500))'); // in which the file is hashed
  t.is(await bytes.getByRole('status').textContent(), '');
});

test('a depositor sees only the files of its own deposit, an auditor no bytes', async (t, open) => {
  const { service, alice } = t.context;
  const carol = await service.register('carol', { collections: ['software'] });
  const [own, other] = [await deposited(alice), await deposited(carol)];
  const depositor = await open({ role: 'depositor', client: 'alice' });
  await depositor.page.goto(`/console/deposits/${own}`);
  await depositor.page.getByRole('link', { name: 'Download as tar' }).waitFor();
  t.is(await depositor.page.getByRole('link', { name: 'Proof' }).count(), 0);
  await depositor.page.goto(`/console/deposits/${other}`);
  await depositor.page.getByText(`Deposit ${other} not found.`).waitFor();
  depositor.forgive(/status of 404/);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${own}?tab=files`);
  await page.getByText('executable').or(page.getByText('directory')).first().waitFor();
  t.is(await page.getByRole('link', { name: /Download/ }).count(), 0);
});

for (const scheme of ['light', 'dark'] as const) {
  for (const width of [1280, 360]) {
    test(`axe finds no violation on the screens of a deposit, and they fit: ${scheme}, ${width} px`, async (t, open) => {
      const id = await deposited(t.context.alice);
      const tab = await open({ role: 'operator', scheme, width });
      const { page } = tab;
      for (const [query, seen] of [
        ['', '✔ hash'],
        ['?tab=files', 'directory'],
        ['?tab=files&path=p/README', 'Lines'],
        ['?tab=proof', 'What this does not prove'],
      ] as const) {
        await page.goto(`/console/deposits/${id}${query}`);
        if (seen === 'Lines') await page.getByRole('region', { name: 'Lines' }).waitFor();
        else await page.getByText(seen).first().waitFor();
        if (query === '?tab=proof') await page.getByLabel('Public keys').fill(KEY);
        if (query === '?tab=proof') await page.getByText('Fingerprints').waitFor();
        t.deepEqual(await tab.accessibilityFaults(), [], query);
        const overflow = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        t.true(overflow <= 0, `${query}: the page is ${overflow} px too wide`);
      }
    });
  }
}

test('a key whose end is missing is named as no key, and the page stays', async (t, open) => {
  const id = await deposited(t.context.alice);
  const { page } = await open({ role: 'auditor' });
  await page.goto(`/console/deposits/${id}?tab=proof`);
  const keys = page.getByLabel('Public keys');
  await keys.fill(KEY.replace('jTk=', 'j'));
  await page.getByText('This is not a public key: ').waitFor();
  await keys.fill(KEY);
  await page.getByText('Fingerprints: ').waitFor();
  t.pass();
});

/** A public key of Ed25519. */
const KEY =
  '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAQoyzp9FbA0ztl0x4x/xsRbv0y3n3RkOhrekPN1yyjTk=\n-----END PUBLIC KEY-----';

const FILES = { 'p/README': 'hello\n', [`p/${XSS}`]: XSS };

/** Makes a deposit with hostile texts, and resolves to its id once it is done. */
async function deposited(
  client: TestClient,
  files: Readonly<Record<string, string>> = FILES,
  origin?: 'create_origin' | 'add_to_origin',
  more?: Buffer,
): Promise<number> {
  const archive = tarOf(Object.entries(files).map(([name, data]) => ({ name, data })));
  const entry = entryXml(
    `<title>Paint ${XSS.replaceAll('<', '&lt;')} ${BIDI}</title><author><name>Ada</name></author>${
      origin === undefined
        ? ''
        : `<d:deposit><d:${origin}><d:origin url="https://${client.name}.example/p"/></d:${origin}></d:deposit>`
    }`,
  );
  const body = formOf([archivePart(archive, 'p.tar', 'application/x-tar'), entryPart(entry)]);
  const deposit = await makeDeposit(client, more ? partial : final, body);
  if (more)
    await client.post(`${deposit}media/`, more, {
      ...archiveHeaders('more.tar', 'application/x-tar'),
      ...final,
    });
  await client.waitFor(`${deposit}status/`, 'done');
  return Number(deposit.split('/').at(-2));
}

/** Makes a log of deposits whose objects do not exist. */
async function generatedLog(folder: string, deposits: number): Promise<void> {
  const generator = path.join(import.meta.dirname, '../../../../bench/generate-log.ts');
  await promisify(execFile)(process.execPath, [
    generator,
    '--deposits',
    String(deposits),
    '--data-dir',
    folder,
  ]);
}

/** Makes an anchor over the log. Resolves to its public key in PEM. */
async function anchored({ service, folder }: RunningService): Promise<string> {
  const config = readConfig({ DEPOSIT_DATA_DIR: folder });
  await makeAnchor(service.log, config);
  const key = await publicAnchorKey(config.anchorKeyFile);
  return key?.export({ type: 'spki', format: 'pem' }) ?? '';
}

/** Clicks, and resolves to the path of the file that is saved. */
async function saved(page: Page, role: 'link' | 'button', name: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole(role, { name }).click();
  const file = await download;
  const folder = path.dirname(await file.path());
  const target = path.join(folder, file.suggestedFilename());
  await file.saveAs(target);
  return target;
}

/** Opens the saved verifier from its file, without a network. */
async function offlineVerifier(page: Page, file: string): Promise<Page> {
  const context = page.context();
  const opened = await context.newPage();
  await context.setOffline(true);
  await opened.goto(pathToFileURL(file).href);
  return opened;
}

/** Changes one byte of an event in the file of the log. Returns its revision. */
function changeOneByte(file: string, stream: string): number {
  using database = new DatabaseSync(file);
  const sql = `SELECT revision, position FROM events JOIN streams ON streams.id = events.stream
    WHERE type = 'ArchiveAdded' AND name = ?`;
  const { revision, position } = database.prepare(sql).get(stream) as { revision: number; position: number };
  const update = `UPDATE events SET data = replace(data, 'p.tar', 'q.tar') WHERE position = ?`;
  database.prepare(update).run(position);
  return revision;
}
