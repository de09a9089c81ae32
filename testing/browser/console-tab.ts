import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export type TabOptions = {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** High contrast by the page, or colours that the system forces. */
  readonly contrast?: 'more' | 'forced';
  /** Name and password that the browser sends with each request, as for pages of the HTTP interface. */
  readonly httpCredentials?: { readonly username: string; readonly password: string };
  /** False for a browser whose scripts are switched off. */
  readonly javaScriptEnabled?: boolean;
};

/** A tab of a browser on the service. It notes everything that a page must not do. */
export class ConsoleTab implements AsyncDisposable {
  readonly page: Page;
  readonly #context: BrowserContext;
  /** Violations of the policies, errors on the console, requests to other hosts, unhandled rejections. */
  readonly faults: string[] = [];

  static async open(browser: Browser, url: string, options: TabOptions = {}): Promise<ConsoleTab> {
    const {
      width = 1280,
      height = 900,
      scheme = 'light',
      contrast,
      httpCredentials,
      javaScriptEnabled = true,
    } = options;
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: scheme,
      baseURL: url,
      reducedMotion: 'reduce',
      acceptDownloads: true,
      javaScriptEnabled,
      ...(httpCredentials && { httpCredentials }),
      ...(contrast === 'more' && { contrast }),
      ...(contrast === 'forced' && { forcedColors: 'active' }),
    });
    const page = await context.newPage();
    return new ConsoleTab(context, page, new URL(url).host);
  }

  private constructor(context: BrowserContext, page: Page, host: string) {
    this.#context = context;
    this.page = page;
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.faults.push(message.text());
    });
    page.on('pageerror', (error) => this.faults.push(`not caught: ${error.message}`));
    page.on('dialog', (dialog) => {
      this.faults.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (!['data:', 'blob:'].includes(url.protocol) && url.host !== host)
        this.faults.push(`a request to ${request.url()}`);
    });
  }

  /** Removes the expected fault of a request that the server refuses, which Chromium reports on its console. */
  forgive(pattern: RegExp): void {
    const others = this.faults.filter((fault) => !pattern.test(fault));
    this.faults.splice(0, this.faults.length, ...others);
  }

  /** Resolves to what axe finds on the page, as one sentence each; in high contrast also texts below 7 to 1. */
  async accessibilityFaults(): Promise<readonly string[]> {
    await this.page.evaluate(axe.source); // by the debugger, to which the policy of the page does not apply
    const enabled = await this.page.evaluate<boolean>(`matchMedia('(prefers-contrast: more)').matches`);
    return await this.page.evaluate(async (isEnhanced) => {
      const rules = { 'color-contrast-enhanced': { enabled: isEnhanced } };
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({ rules });
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
      );
    }, enabled);
  }

  /** Resolves to the pixels by which the page is wider than the screen; 0 or less if it is not. */
  async overflow(): Promise<number> {
    return await this.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
