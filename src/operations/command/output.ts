import { once } from 'node:events';
import { clock } from '../../tools/clock.ts';
import { printable } from '../../tools/terminal/printable.ts';
import { clearBar } from '../../tools/terminal/progress-bar.ts';

/** Prints text, without characters by which the text of a client could pass for something else. */
export function say(text: string): void {
  clearBar();
  process.stdout.write(`${printable(text)}\n`);
}

/** Texts that are printed before other events have their turn. */
const AT_ONCE = 100;
let printed = 0;

/**
 * Prints one of many texts. Resolves when the next may follow: the reader may be slower, or have gone, which only another
 * turn of the event loop reports.
 * @param options.waits for a slow reader; not with an open transaction, which would let the file of the views grow
 */
export async function sayInTurn(text: string, { waits = true } = {}): Promise<void> {
  say(text);
  printed += 1;
  if (printed % AT_ONCE === 0) await clock.nextTurn();
  if (waits && process.stdout.writableNeedDrain) await once(process.stdout, 'drain').catch(() => undefined); // an error is reported once, by its listener
}

/** Prints a message on standard error, apart from the output that programs read. */
export function warn(text: string): void {
  clearBar();
  process.stderr.write(`${printable(text)}\n`);
}

/** Members that hold stored data. Their names are part of what is hashed or signed, and stay as they are. */
const STORED: ReadonlySet<string> = new Set(['data', 'event', 'anchor']);

/** Members that are never printed: digests of passwords, and sealed secrets of webhooks. */
const SECRETS: ReadonlySet<string> = new Set(['credential', 'secret']);

/**
 * Formats an object as a line of JSON for programs: names in snake_case at every depth, except in stored data. It never
 * contains credentials, nor characters that a terminal executes or does not show.
 */
export function jsonLine(value: object): string {
  return printable(JSON.stringify(withSnakeCase(value), withoutCredentials));
}

function withoutCredentials(name: string, value: unknown): unknown {
  return SECRETS.has(name) ? 'not shown' : value;
}

function withSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeCase);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      STORED.has(name) ? inner : withSnakeCase(inner),
    ]),
  );
}
