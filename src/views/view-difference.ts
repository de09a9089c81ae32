import { isDeepStrictEqual } from 'node:util';
import type { ViewFile } from './store/view-file.ts';

/** A difference between a view in use and the same view rebuilt from the log. */
export type ViewDifference = {
  readonly view: string;
  readonly key: string;
  readonly kind: 'missing' | 'not of the log' | 'different' | 'damaged';
};

/** Compares two generations of a view, key by key. @param truth the generation rebuilt from the log. */
export function* differencesBetween(inUse: ViewFile, truth: ViewFile): Generator<ViewDifference> {
  try {
    yield* rowDifferences(inUse, truth);
    for (const key of inUse.damage()) yield { view: inUse.name, key, kind: 'damaged' };
    if (!isDeepStrictEqual(inUse.countRows(), truth.countRows()))
      yield { view: inUse.name, key: 'counts', kind: 'different' };
  } catch (error) {
    yield { view: inUse.name, key: (error as Error).message, kind: 'damaged' }; // SQLite cannot read the view
  }
}

function* rowDifferences(inUse: ViewFile, truth: ViewFile): Generator<ViewDifference> {
  const view = inUse.name;
  const [shown, right] = [inUse.rows(), truth.rows()];
  let [one, other] = [next(shown), next(right)];
  while (one || other) {
    if (one && other && one[0] === other[0]) {
      if (one[1] !== other[1]) yield { view, key: one[0], kind: kindOf(one[1]) };
      [one, other] = [next(shown), next(right)];
    } else if (one && (!other || one[0] < other[0])) {
      yield { view, key: one[0], kind: 'not of the log' };
      one = next(shown);
    } else if (other) {
      yield { view, key: other[0], kind: 'missing' };
      other = next(right);
    }
  }
}

function next(rows: IterableIterator<[string, string]>): [string, string] | undefined {
  const { value, done } = rows.next();
  return done ? undefined : value;
}

function kindOf(shown: string): ViewDifference['kind'] {
  try {
    JSON.parse(shown);
    return 'different';
  } catch {
    return 'damaged';
  }
}
