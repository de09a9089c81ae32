import type { ExecutionContext } from 'ava';
import type { Decider } from '../../src/domain/decider.ts';

/** Returns a test of a decider: after these events, this command gives these events or this refusal. */
export function scenario<State, Command, Event>(decider: Decider<State, Command, Event>) {
  return (t: ExecutionContext, ...past: readonly Event[]) => ({
    when: (command: Command) => {
      const state = past.reduce(decider.evolve, decider.initial);
      return {
        thenEvents: (...expected: readonly Event[]) => t.deepEqual(decider.decide(command, state), expected),
        thenNothing: () => t.deepEqual(decider.decide(command, state), []),
        thenTypes: (...types: readonly string[]) =>
          t.deepEqual(
            decider.decide(command, state).map((event) => (event as { type: string }).type),
            types,
          ),
        thenRefused: (code: string, message = /^[A-Z"].*[.]$/s) => {
          const refusal = t.throws<Error & { code?: string }>(() => decider.decide(command, state));
          t.is(refusal?.code, code);
          t.regex(refusal?.message ?? '', message, 'a refusal is a message');
        },
      };
    },
    state: () => past.reduce(decider.evolve, decider.initial),
  });
}
