import { UsageError } from '../../src/operations/command/command.ts';

/** Returns the milliseconds of a text such as 2ms or 0.5s. */
export function parseDuration(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? [];
  if (number === undefined) throw new UsageError(`${text} is no duration like 2ms.`);
  return Number(number) * (unit === 's' ? 1000 : 1);
}
