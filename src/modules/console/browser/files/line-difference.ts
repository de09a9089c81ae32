/** A line of two texts: of both, or of one alone. */
export type ComparedLine = {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
  /** Numbers of the line in each text, from 1. */
  readonly before?: number;
  readonly after?: number;
};

/** Maximum number of lines of a text, and of lines that differ: time and memory grow with their product. */
export const [MAX_LINES, MAX_CHANGES] = [20_000, 2000];

/** Lines before and after each change that are shown with it. */
const CONTEXT = 3;

/**
 * Compares two texts line by line, with as few changes as possible. Returns the changes with the lines around them, a list
 * for each place; `undefined` if one of the limits is exceeded.
 */
export function changedPlaces(before: string, after: string): ComparedLine[][] | undefined {
  const [old, present] = [linesOf(before), linesOf(after)];
  if (old.length > MAX_LINES || present.length > MAX_LINES) return undefined;
  const lines = comparedLines(old, present);
  return lines && placesOf(lines);
}

/** Splits a text; a line feed ends a line, and a missing one at the end is no line of its own. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function comparedLines(old: readonly string[], present: readonly string[]): ComparedLine[] | undefined {
  const trace = shortestEdit(old, present);
  if (!trace) return undefined;
  const lines: ComparedLine[] = [];
  let [x, y] = [old.length, present.length];
  const backTo = (start: number): void => {
    for (; x > start; [x, y] = [x - 1, y - 1])
      lines.push({ kind: 'same', text: old[x - 1] ?? '', before: x, after: y });
  };
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const at = (diagonal: number): number => trace[edits - 1]?.[diagonal + edits + 1] ?? -1;
    const diagonal = x - y;
    const isAdded = at(diagonal + 1) > at(diagonal - 1) && diagonal !== edits;
    backTo(isAdded ? at(diagonal + 1) : at(diagonal - 1) + 1);
    if (isAdded) lines.push({ kind: 'added', text: present[y - 1] ?? '', after: y-- });
    else lines.push({ kind: 'removed', text: old[x - 1] ?? '', before: x-- });
  }
  backTo(0);
  return lines.toReversed();
}

/**
 * Finds a shortest way from one text to the other (Myers, 1986). A row for each number of edits has how many lines of the
 * old text are consumed at most on each diagonal, from -edits - 2 on; -1 where no way leads.
 */
function shortestEdit(old: readonly string[], present: readonly string[]): Int32Array[] | undefined {
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= MAX_CHANGES; edits += 1) {
    const row = new Int32Array(2 * edits + 5).fill(-1);
    const last = trace.at(-1);
    trace.push(row);
    const at = (diagonal: number): number => last?.[diagonal + edits + 1] ?? -1;
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = edits === 0 ? 0 : Math.max(at(diagonal + 1), at(diagonal - 1) + 1);
      while (x < old.length && x - diagonal < present.length && old[x] === present[x - diagonal]) x += 1;
      row[diagonal + edits + 2] = x;
      if (x === old.length && x - diagonal === present.length) return trace;
    }
  }
  return undefined;
}

/** Returns the lines near changes; places that touch each other are one. */
function placesOf(lines: readonly ComparedLine[]): ComparedLine[][] {
  const places: ComparedLine[][] = [];
  let end = 0;
  for (const [index, { kind }] of lines.entries()) {
    if (kind === 'same') continue;
    const start = Math.max(index - CONTEXT, end);
    if (start > end || places.length === 0) places.push([]);
    places.at(-1)?.push(...lines.slice(start, index + CONTEXT + 1));
    end = Math.max(end, Math.min(lines.length, index + CONTEXT + 1));
  }
  return places;
}
