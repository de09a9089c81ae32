import type { ExecutionContext } from 'ava';
import type { Browser } from 'playwright-core';
import type { Config } from '../../src/config/config.ts';
import type { Role } from '../../src/domain/person/person.ts';
import type { RunningService } from '../service/running-service.ts';
import type { ServiceWith } from '../service/test-of-service.ts';
import { testOfService } from '../service/test-of-service.ts';
import { installedChromium, startChromium } from './chromium.ts';
import { ConsoleTab, type TabOptions } from './console-tab.ts';
import { linkFor } from './sign-in.ts';

/** Time limit of a test, on a machine that runs other tests at the same time. */
const TIMEOUT_MS = 180_000;

/**
 * Opens a tab and signs a person in, who is added if necessary. Without a role, the tab shows the sign-in; with HTTP
 * credentials, it shows nothing yet.
 */
export type OpenTab = (
  options?: TabOptions & {
    readonly role?: Role;
    readonly client?: string;
    /** Another service than that of the test. */
    readonly service?: RunningService;
    /** The address of a proxy before the service. */
    readonly url?: string;
  },
) => Promise<ConsoleTab>;

/**
 * Returns a function that declares tests in a browser. Each fails when a page violates a policy, writes an error on the
 * console, asks another host or leaves a rejection unhandled. Without Chromium the tests say that they did not run,
 * which fails where CI is set.
 */
export function consoleTests<Name extends string>(
  clients: Readonly<Record<Name, { readonly collections: readonly string[]; readonly domain?: string }>>,
  settings: Partial<Config> = {},
) {
  const test = testOfService(clients, settings);
  const executablePath = installedChromium();
  let browser: Browser | undefined;
  test.before(async (t) => {
    t.timeout(TIMEOUT_MS);
    if (executablePath !== undefined) browser = await startChromium(executablePath, TIMEOUT_MS);
  });
  test.after.always(async () => await browser?.close());
  return (
    title: string,
    run: (t: ExecutionContext<ServiceWith<Name>>, open: OpenTab) => Promise<void>,
  ): void => {
    test.serial(title, async (t) => {
      t.timeout(TIMEOUT_MS);
      if (!browser) {
        t.log('NOT RUN: there is no Chromium: DEPOSIT_CHROMIUM may name one');
        const mustRun = process.env['CI'] !== undefined && process.env['CHROMIUM_BIN'] !== 'none';
        return mustRun ? t.fail('CI has no Chromium, and CHROMIUM_BIN=none does not say so') : t.pass();
      }
      await using stack = new AsyncDisposableStack();
      const tabs: ConsoleTab[] = [];
      const { service: own } = t.context;
      const running = browser;
      await run(t, async ({ role, client, service = own, url = service.url, ...options } = {}) => {
        const tab = stack.use(await ConsoleTab.open(running, url, options));
        tabs.push(tab);
        tab.page.setDefaultTimeout(60_000);
        if (options.httpCredentials) return tab;
        if (role === undefined) await tab.page.goto('/console/');
        else await tab.page.goto(await linkFor(service, role, client));
        await tab.page.waitForURL(/\/console\/(sign-in.*)?$/);
        return tab;
      });
      t.deepEqual(
        tabs.flatMap(({ faults }) => faults),
        [],
      );
    });
  };
}
