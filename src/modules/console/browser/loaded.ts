import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, type Reading } from './api.ts';
import { live } from './live.ts';

/** A value that is loaded: what came last, and why it is not of now if it could not be read. */
export type Loaded<Value> = { readonly value: Value | undefined; readonly problem: string | undefined };

/**
 * Loads a value when the inputs change; an answer to older inputs is dropped. Loads it again when `version` changes, in
 * the background, while the value before stays. So it does when the event stream begins, if the last attempt failed, or
 * if there is a `version`: changes may have been missed.
 * @param version of a value that may change
 */
export function useLoaded<Value>(
  load: (reading: Reading) => Promise<Value>,
  inputs: readonly unknown[],
  version?: number,
): Loaded<Value> {
  type State = Loaded<Value> & { readonly inputs: readonly unknown[] };
  const [last, setLast] = useState<State>({ inputs, value: undefined, problem: undefined });
  const state = areSame(last.inputs, inputs) ? last : { inputs, value: undefined, problem: undefined };
  const mayBeOld = useRef(false);
  mayBeOld.current = version !== undefined || state.problem !== undefined;
  const [openings, setOpenings] = useState(0);
  useEffect(() => live.openings.listen(() => mayBeOld.current && setOpenings((before) => before + 1)), []);
  const asked = useRef<readonly unknown[]>([undefined]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const background = areSame(asked.current, inputs);
    asked.current = inputs;
    load({ signal, background }).then(
      (value) => signal.aborted || setLast({ inputs, value, problem: undefined }),
      (error: Error) =>
        signal.aborted ||
        setLast((before) => {
          const value = areSame(before.inputs, inputs) ? before.value : undefined;
          return { inputs, value, problem: error.message };
        }),
    );
    return () => stop.abort();
  }, [...inputs, version, openings]);
  return state;
}

/** Loads the JSON at a path of the console. @see useLoaded */
export function useJson<Value>(path: string, version?: number): Loaded<Value> {
  return useLoaded((reading) => getJson<Value>(path, reading), [path], version);
}

/** Milliseconds between two readings of what the event stream does not report: parked events, and views behind. */
const REREAD_MS = 30_000;

/** Loads the JSON at a path of the console again and again, and when `version` changes. @see useJson */
export function useRereadJson<Value>(path: string, version: number): Loaded<Value> {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setTicks((before) => before + 1);
    }, REREAD_MS);
    return () => clearInterval(timer);
  }, []);
  return useJson(path, version + ticks);
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((input, index) => Object.is(input, others[index]));
}
