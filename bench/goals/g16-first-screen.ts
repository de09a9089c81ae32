import type { Browser } from 'playwright-core';
import { installedChromium, startChromium } from '../../testing/browser/chromium.ts';
import type { ConsoleSession } from '../../testing/browser/sign-in.ts';
import { atMost, type Goal } from '../frame/goal.ts';
import { NotMeasured } from '../frame/not-measured.ts';
import { startBenched } from '../servers/benched-service.ts';
import { operatorSession } from '../servers/console-session.ts';
import { catchUp } from './g13-start.ts';

const DEPOSITS = 100_000;

type Paints = Readonly<Record<'first' | 'largest' | 'data', number>>;

/** Measures from the beginning of the navigation, in a browser with an empty cache, until something is on the screen. */
export const firstScreen: Goal = {
  id: 'G16',
  what: `first screen of the console, ${DEPOSITS.toLocaleString('en')} deposits`,
  async measure({ inputs, pairs, tell }) {
    const executable = installedChromium();
    if (executable === undefined) throw new NotMeasured('There is no Chromium.');
    const dataDir = await inputs.variedDeposits(DEPOSITS);
    tell('G16: views, unless they are there');
    await catchUp(dataDir);
    await using service = await startBenched(dataDir);
    const session = await operatorSession(dataDir, service.url);
    const browser = await startChromium(executable);
    try {
      const found: Paints[] = [];
      for (let round = -1; round < pairs; round += 1) {
        tell(`G16: ${round < 0 ? 'the browser starts' : `round ${round + 1}`}`);
        const paints = await paintsOf(browser, service.url, session);
        if (round >= 0) found.push(paints); // the first one also starts processes of the browser
      }
      return (['first', 'largest', 'data'] as const).map((name) => ({
        what: { first: 'first paint', largest: 'largest paint', data: 'all data shown' }[name],
        unit: 'ms',
        ours: { name: 'Chromium', values: found.map((paints) => paints[name]) },
        wanted: atMost(1000),
      }));
    } finally {
      await browser.close();
    }
  },
};

/** Opens the overview in a context of its own, which has no cache. Resolves to milliseconds since the navigation. */
async function paintsOf(browser: Browser, url: string, { cookie }: ConsoleSession): Promise<Paints> {
  const context = await browser.newContext({ baseURL: url });
  try {
    const [name = '', value = ''] = cookie.split(/=(.*)/s);
    await context.addCookies([{ name, value, url }]);
    const page = await context.newPage();
    await page.goto('/console/', { waitUntil: 'commit' });
    await page.locator('#recent').waitFor();
    return await page.evaluate<Paints>(`new Promise((resolve) => {
      const data = performance.now();
      const first = performance.getEntriesByName('first-contentful-paint')[0].startTime;
      new PerformanceObserver((list) => resolve({ data, first, largest: list.getEntries().at(-1).startTime }))
        .observe({ type: 'largest-contentful-paint', buffered: true });
    })`);
  } finally {
    await context.close();
  }
}
