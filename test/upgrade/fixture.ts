import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { readConfig } from '../../src/config/read-config.ts';
import type { Expected } from './expected.ts';

const ROOT = path.join(import.meta.dirname, '..', 'fixtures');
/** The commits whose code made fixtures, each in its own folder. */
export const COMMITS = ['a4b3938', 'cc8670d'] as const;
export type FrozenCommit = (typeof COMMITS)[number];
/** Frozen data does not expire, however old it is. In milliseconds. */
const FOR_EVER = 100 * 365 * 86_400_000;

/** The files that were frozen together. */
export class Fixture {
  readonly #folder: string;

  constructor(commit: FrozenCommit, name: 'embedded' | 'distributed' | 'stuck') {
    this.#folder = path.join(ROOT, commit, name);
  }

  get expected(): Expected {
    return JSON.parse(this.read('expected.json').toString()) as Expected;
  }

  read(name: string): Buffer {
    return readFileSync(this.fileOf(name));
  }

  fileOf(name: string): string {
    return path.join(this.#folder, name);
  }
}

/** Returns settings for frozen data: the same address, receivers on this machine, and nothing expires. */
export function frozenSettings(
  { baseUrl }: Pick<Expected, 'baseUrl'>,
  keyFile: string,
): Pick<Config, 'baseUrl' | 'webhooks' | 'uploadLimits'> {
  const { webhooks, uploadLimits } = readConfig({});
  const hasty = { firstPause: 20, longestPause: 200 };
  return {
    baseUrl,
    webhooks: { ...webhooks, ...hasty, keyFile, allowPrivate: true, giveUpAfter: FOR_EVER },
    uploadLimits: { ...uploadLimits, expiry: FOR_EVER },
  };
}
