import { UsageError } from '../../src/operations/command/command.ts';

export function pairsIn(text: string): number {
  const pairs = Number(text);
  if (Number.isInteger(pairs) && pairs > 0) return pairs;
  throw new UsageError(`--pairs ${text} is no number of pairs.`);
}
