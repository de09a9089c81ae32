import type { EventStoreDBClient } from '@eventstore/db-client';
import { UnusableAnswer } from './errors.ts';

/** Resolves to the version that the server reports, as in `24.10.14`; `unknown` for one older than 21.10. */
export async function serverVersionOf(client: EventStoreDBClient): Promise<string> {
  // The client asks for it before other calls, but offers no public access to it.
  const { capabilities } = client as unknown as {
    capabilities: Promise<{ readonly serverVersion?: unknown }>;
  };
  const { serverVersion } = await capabilities;
  if (typeof serverVersion !== 'string') throw new UnusableAnswer('the server named no version');
  return serverVersion;
}

/**
 * Returns whether persistent subscriptions with the strategy `Pinned`, which reactors use, can lose events on a server:
 * their checkpoint passes events that wait for a node whose buffer is full. It is fixed in 24.10.14, 26.0.3, 26.1.0 and
 * newer, and not in 25.x. A version that cannot be parsed counts as unsafe.
 */
export function pinnedIsUnsafe(version: string): boolean {
  const numbers = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
  const [year = 0, minor = 0, patch = 0] = numbers ?? [];
  if (year === 24 && minor === 10) return patch < 14;
  if (year === 26 && minor === 0) return patch < 3;
  return year < 24 || (year === 24 && minor < 10) || year === 25;
}

/** Returns a sentence for operators if the version has a known defect. */
export function versionWarning(version: string): string | undefined {
  if (!pinnedIsUnsafe(version)) return undefined;
  return `EventStoreDB ${version} may lose deliveries: upgrade to 24.10.14, 26.0.3, 26.1.0 or newer.`;
}
