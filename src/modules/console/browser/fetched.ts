import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, messageOf } from './api.ts';
import { live } from './live.ts';

/** Data of the server: what came last, and why it is not of now if it could not be read. */
export type Fetched<Data> = {
  readonly data: Data | undefined;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
};

/**
 * Reads a path of the console, and again when the path or `version` changes, or changes may have been missed. A later
 * version is read in the background, while the data before stay. Another path is asked for by the person: the session
 * is prolonged.
 */
export function useFetched<Data>(path: string, version = 0): Fetched<Data> {
  const [state, setState] = useState<Fetched<Data> & { readonly path: string }>(() => loading(path));
  const opened = useOpenings();
  const asked = useRef<string | undefined>(undefined);
  useEffect(() => {
    const stop = new AbortController();
    const background = asked.current === path;
    asked.current = path;
    getJson<Data>(path, { signal: stop.signal, background }).then(
      (data) => setState({ path, data, problem: undefined, isLoading: false }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const problem = messageOf(error);
        setState((before) => {
          const data = before.path === path ? before.data : undefined; // not what another path answered
          return { path, data, problem, isLoading: false };
        });
      },
    );
    return () => stop.abort();
  }, [path, version, opened]);
  return state.path === path ? state : loading(path);
}

/** Returns how often the event stream has begun: what was read before that may be out of date. */
function useOpenings(): number {
  const [openings, setOpenings] = useState(0);
  useEffect(() => live.onOpen(() => setOpenings((before) => before + 1)), []);
  return openings;
}

/** Returns a number that grows at every interval, for what no event stream reports. */
export function useTicks(intervalMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setTicks((before) => before + 1);
    }, intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return ticks;
}

function loading(path: string) {
  return { path, data: undefined, problem: undefined, isLoading: true };
}
