import { setTimeout as pause } from 'node:timers/promises';

const LIMIT_MS = 30_000;

/** Resolves once it is so, or after 30 s: then the assertion behind it shows what is different. */
export async function settled(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  while (performance.now() < deadline && !(await isSo())) await pause(20);
}
