import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, getJson, type Reading } from './api.ts';
import { live } from './live.ts';

/** A value that is loaded: what came last, and why it is not of now if it could not be read. */
export type Loaded<Value> = { readonly value: Value | undefined; readonly problem: string | undefined };

/** Milliseconds until the first attempt to load a value again, and at most between two attempts. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [2000, 30_000];

/**
 * Loads a value when the inputs change; an answer to older inputs is dropped. Loads it again when `version` changes, in
 * the background, while the value before stays. So it does when the event stream begins, if the last attempt failed, or
 * if there is a `version`: changes may have been missed. While the service does not answer, or cannot, it tries again.
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
  const [attempts, setAttempts] = useState(0);
  const pauseMs = useRef(FIRST_PAUSE_MS);
  const asked = useRef<readonly unknown[]>([undefined]);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const background = areSame(asked.current, inputs);
    if (!background) pauseMs.current = FIRST_PAUSE_MS;
    asked.current = inputs;
    load({ signal, background }).then(
      (value) => {
        if (signal.aborted) return;
        pauseMs.current = FIRST_PAUSE_MS;
        setLast({ inputs, value, problem: undefined });
      },
      (error: Error) => {
        if (signal.aborted) return;
        setLast((before) => {
          const value = areSame(before.inputs, inputs) ? before.value : undefined;
          return { inputs, value, problem: error.message };
        });
        if (!isTemporary(error)) return;
        timer = setTimeout(() => setAttempts((before) => before + 1), pauseMs.current);
        pauseMs.current = Math.min(2 * pauseMs.current, MAX_PAUSE_MS);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [...inputs, version, openings, attempts]);
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

/** Whether the same request may be answered later. */
function isTemporary(error: Error): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500);
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((input, index) => Object.is(input, others[index]));
}
