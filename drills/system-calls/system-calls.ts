/**
 * One call in the output of `strace -f -y`. Calls of several threads overlap: what matters is which ended before
 * another began.
 */
export type SystemCall = {
  readonly thread: string;
  readonly name: string;
  /** Everything between the parentheses, with the paths of descriptors. */
  readonly args: string;
  readonly result: string;
  /** Numbers of lines. */
  readonly begun: number;
  readonly ended: number;
};

/** Returns all calls that ended, ordered by their beginnings. */
export function systemCalls(output: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, { name: string; args: string; begun: number }>();
  for (const [line, text] of output.split('\n').entries()) {
    const whole = /^(\d+) +(\w+)\((.*)\)\s+= (.+)$/s.exec(text);
    const unfinished = /^(\d+) +(\w+)\((.*) <unfinished \.\.\.>$/s.exec(text);
    const resumed = /^(\d+) +<\.\.\. (\w+) resumed>(.*)\)\s+= (.+)$/s.exec(text);
    if (resumed) {
      const [, thread = '', name = '', rest = '', result = ''] = resumed;
      const begun = open.get(thread);
      if (begun?.name === name) {
        calls.push({ thread, name, args: begun.args + rest, result, begun: begun.begun, ended: line });
      }
      open.delete(thread);
    } else if (unfinished) {
      const [, thread = '', name = '', args = ''] = unfinished;
      open.set(thread, { name, args, begun: line });
    } else if (whole) {
      const [, thread = '', name = '', args = '', result = ''] = whole;
      calls.push({ thread, name, args, result, begun: line, ended: line });
    }
  }
  return calls.toSorted((one, other) => one.begun - other.begun);
}

/** A step of an order: the first call that fits and begins after the step before has ended. */
export type Step = { readonly what: string; readonly fits: (call: SystemCall) => boolean };

/** Returns why these steps did not happen one after the other; `undefined` if they did. */
export function disorder(calls: readonly SystemCall[], steps: readonly Step[]): string | undefined {
  let after: { what: string; ended: number } = { what: 'the request', ended: -1 };
  for (const { what, fits } of steps) {
    const next = calls.find((call) => call.begun > after.ended && fits(call));
    if (!next) return `there is no ${what} after ${after.what}`;
    after = { what, ended: next.ended };
  }
  return undefined;
}
