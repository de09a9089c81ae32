import { pluralize } from '../../domain/description.ts';
import { warn } from '../command/output.ts';
import type { StoreCopied } from '../copy/store-copy.ts';

type Outcome = Pick<StoreCopied, 'failed' | 'notReady'>;

/** Whether the copy has every object that events reference. */
export function isComplete({ failed }: Outcome): boolean {
  return !failed.some(({ isNamed }) => isNamed);
}

/** Returns what a copy of objects lacks, in clauses. */
export function shortcomings({ failed, notReady }: Outcome): string[] {
  const named = failed.filter(({ isNamed }) => isNamed).length;
  return [
    ...(named > 0 ? [`${pluralize(named, 'object')} that events name could not be copied`] : []),
    ...(notReady === null ? [] : ['the list of objects may be incomplete']),
  ];
}

/** Warns of each object that was not copied. @returns the exit code of the command */
export function reportCopied({ failed, notReady }: Outcome, notCopied = 'Not copied'): 0 | 1 {
  for (const { sha256, isNamed, reason } of failed) {
    warn(`${notCopied}: ${sha256}. ${reason} ${isNamed ? 'An event names it.' : 'No event names it.'}`);
  }
  if (notReady !== null) warn(`The list of objects may be incomplete: ${notReady} Run the command again.`);
  return isComplete({ failed, notReady }) && notReady === null ? 0 : 1;
}
