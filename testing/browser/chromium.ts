import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Returns the path of the Chromium of this machine, or `undefined`. */
export function installedChromium(): string | undefined {
  return [process.env['CHROMIUM_BIN'], '/usr/bin/chromium', '/usr/bin/chromium-browser'].find(
    (file) => file !== undefined && existsSync(file),
  );
}

/** Starts a browser. `timeout` is in milliseconds. */
export function startChromium(executablePath: string, timeout = 60_000): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath, args, timeout });
}
