import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { readConfig } from '../../src/config/read-config.ts';
import { publicAnchorKey } from '../../src/modules/anchors/anchor-key.ts';
import { makeAnchor } from '../../src/modules/anchors/make-anchor.ts';
import { RunningService } from '../service/running-service.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { ConsoleTab } from './console-tab.ts';
import { makePicturedDeposits } from './picture-deposits.ts';
import { linkFor } from './sign-in.ts';

// Takes the pictures of docs/console.md: node testing/browser/console-pictures.ts [--to FOLDER] [--only NAME]

type Pictured = { readonly id: number; readonly key: string };
type Picture = {
  readonly path: (made: Pictured) => string;
  /** Leads the page to what the picture shows. */
  readonly prepare: (page: Page, made: Pictured) => Promise<void>;
};

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).waitFor();

const PICTURES: Readonly<Record<string, Picture>> = {
  overview: { path: () => '/console/', prepare: (page) => region(page, 'Latest changes') },
  deposits: { path: () => '/console/deposits', prepare: (page) => page.getByRole('table').waitFor() },
  recheck: {
    path: () => '/console/deposits?status=rejected',
    prepare: async (page) => {
      await page.getByRole('checkbox').nth(1).check();
      await page.getByRole('button', { name: 'Check again…', exact: true }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  search: { path: () => '/console/search?q=paint', prepare: (page) => page.getByRole('table').waitFor() },
  work: { path: () => '/console/work', prepare: (page) => page.getByRole('table').first().waitFor() },
  'deposit-timeline': {
    path: ({ id }) => `/console/deposits/${id}?at=6`,
    prepare: async (page) => {
      await page.getByText('✔').first().waitFor();
    },
  },
  'deposit-files': {
    path: ({ id }) => `/console/deposits/${id}?tab=files&path=paint-1.0`,
    prepare: (page) => region(page, 'Directory'),
  },
  'deposit-file': {
    path: ({ id }) =>
      `/console/deposits/${id}?tab=files&path=paint-1.0/src/palette.py&lines=3-4&with=${id - 3}`,
    prepare: (page) => region(page, 'Changed lines'),
  },
  'deposit-listing': {
    path: ({ id }) => `/console/deposits/${id + 1}?tab=files`,
    prepare: (page) => page.getByRole('table').waitFor(),
  },
  'deposit-proof': {
    path: ({ id }) => `/console/deposits/${id}?tab=proof`,
    prepare: async (page, { key, id }) => {
      await page.getByLabel('Public keys').fill(key);
      await page.getByRole('button', { name: `Prove deposit ${id}` }).click();
      await page.getByRole('button', { name: 'Save the evidence' }).waitFor();
    },
  },
};

const { values } = parseArgs({ options: { to: { type: 'string' }, only: { type: 'string' } } });
const folder = path.resolve(values.to ?? path.join(import.meta.dirname, '../../docs/console'));

await using service = await RunningService.start();
const made = { id: await makePicturedDeposits(service), key: await anchored() };
for (const [reactor, reason] of [
  ['notifier', 'The receiver answered 410 for seven days.'],
  ['notifier', 'The receiver answered 410 for seven days.'],
  ['loader', 'The process ended ten times while it worked on this event.'],
] as const)
  await service.administration.parking({
    type: 'ParkEvent',
    eventId: randomUUID(),
    reactor,
    stream: `deposit-${made.id - 1}`,
    revision: 2,
    reason,
  });
const browser = await startChromium(installedChromium() ?? 'chromium');
try {
  await takeAll(browser);
} finally {
  await browser.close();
}

async function takeAll(running: Browser): Promise<void> {
  for (const scheme of ['light', 'dark'] as const)
    for (const width of [1280, 360]) {
      await using tab = await ConsoleTab.open(running, service.url, {
        scheme,
        width,
        height: width === 360 ? 740 : 800,
      });
      const save = async (name: string) => {
        if (values.only === undefined || name === values.only)
          await tab.page.screenshot({ path: path.join(folder, `${name}-${scheme}-${width}.png`) });
      };
      await tab.page.goto('/console/');
      await tab.page.getByLabel('Client').waitFor();
      await save('sign-in');
      await tab.page.goto(await linkFor(service, 'operator', undefined, 'rosa'));
      await tab.page.waitForURL(/\/console\/$/);
      for (const [name, { path: address, prepare }] of Object.entries(PICTURES)) {
        if (values.only !== undefined && name !== values.only) continue;
        await tab.page.goto(address(made));
        await prepare(tab.page, made);
        await tab.page.getByRole('button', { name: 'live' }).waitFor();
        await save(name);
      }
      if (values.only === undefined || values.only === 'verifier') await takeVerifier(tab.page, save);
      tab.forgive(/file:/); // the verifier
      if (tab.faults.length > 0) throw new Error(tab.faults.join('\n'));
    }
}

async function takeVerifier(page: Page, save: (name: string) => Promise<void>): Promise<void> {
  await page.goto(`/console/deposits/${made.id}?tab=proof`);
  await PICTURES['deposit-proof']?.prepare(page, made);
  const [verifier, evidence] = [
    await saved(page, 'link', 'Save the verifier', 'verifier.html'),
    await saved(page, 'button', 'Save the evidence', 'deposit.audit.json'),
  ];
  await page.goto(pathToFileURL(verifier).href);
  await page.getByLabel('Public keys').fill(made.key);
  await page.getByLabel('Evidence file').setInputFiles(evidence);
  await page.getByText('everything is proven').waitFor();
  await save('verifier');
}

async function saved(page: Page, role: 'link' | 'button', name: string, file: string): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole(role, { name }).click();
  const target = path.join(service.folder, file);
  await (await download).saveAs(target);
  await readFile(target);
  return target;
}

/** Makes an anchor, and resolves to its public key in PEM. */
async function anchored(): Promise<string> {
  const config = readConfig({ DEPOSIT_DATA_DIR: service.folder });
  await makeAnchor(service.service.log, config);
  return (await publicAnchorKey(config.anchorKeyFile))?.export({ type: 'spki', format: 'pem' }) as string;
}
