import { useEffect, useState } from 'preact/hooks';
import { ApiError, getJson } from './api.ts';

/** Data of the server: what came last, and why it is not of now if it could not be read. */
export type Fetched<Data> = {
  readonly data: Data | undefined;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
};

/**
 * Reads a path of the console, and again when the path or `version` changes. A later version is read in the background,
 * while the data before stay.
 */
export function useFetched<Data>(path: string, version = 0): Fetched<Data> {
  const [state, setState] = useState<Fetched<Data> & { readonly path: string }>(() => loading(path));
  useEffect(() => {
    const stop = new AbortController();
    getJson<Data>(path, { signal: stop.signal, background: version > 0 }).then(
      (data) => setState({ path, data, problem: undefined, isLoading: false }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState((before) => ({ ...before, path, problem: error.message, isLoading: false }));
      },
    );
    return () => stop.abort();
  }, [path, version]);
  return state.path === path ? state : loading(path);
}

function loading(path: string) {
  return { path, data: undefined, problem: undefined, isLoading: true };
}
