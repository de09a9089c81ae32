import { isDeepStrictEqual } from 'node:util';
import type { ViewFile } from './store/view-file.ts';
import type { ViewRow, ViewTable } from './store/view-table.ts';

/** A difference between a view in use and the same view rebuilt from the log. */
export type ViewDifference = {
  readonly view: string;
  readonly key: string;
  readonly kind: 'missing' | 'not of the log' | 'different' | 'damaged';
};

/**
 * Compares a view of two generations, key by key, and their counts. Returns a note if the view in use has no counts yet.
 * @param truth the generation rebuilt from the log.
 */
export function* differencesBetween(
  inUse: ViewFile,
  truth: ViewFile,
  view: string,
): Generator<ViewDifference, string | undefined> {
  try {
    const [shown, right] = [inUse.table(view), truth.table(view)];
    yield* rowDifferences(view, shown, right);
    if (right.isCounted && !shown.isCounted)
      return `The counts of the view ${view} were not compared: a service adds them once its views are filled.`;
    if (!isDeepStrictEqual(shown.countRows(), right.countRows()))
      yield { view, key: 'counts', kind: 'different' };
  } catch (error) {
    yield { view, key: (error as Error).message, kind: 'damaged' }; // SQLite cannot read the view
  }
  return undefined;
}

function* rowDifferences(view: string, inUse: ViewTable, truth: ViewTable): Generator<ViewDifference> {
  const [shown, right] = [inUse.rows(), truth.rows()];
  let [one, other] = [next(shown), next(right)];
  while (one || other) {
    if (one && other && one.key === other.key) {
      if (one.view !== other.view) yield { view, key: one.key, kind: kindOf(one.view) };
      [one, other] = [next(shown), next(right)];
    } else if (one && (!other || one.key < other.key)) {
      yield { view, key: one.key, kind: 'not of the log' };
      one = next(shown);
    } else if (other) {
      yield { view, key: other.key, kind: 'missing' };
      other = next(right);
    }
  }
}

function next(rows: Generator<ViewRow, undefined>): ViewRow | undefined {
  return rows.next().value;
}

function kindOf(shown: string): ViewDifference['kind'] {
  try {
    JSON.parse(shown);
    return 'different';
  } catch {
    return 'damaged';
  }
}
