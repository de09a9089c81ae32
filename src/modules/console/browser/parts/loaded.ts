import { useEffect, useState } from 'preact/hooks';

/** A value that is loaded: at first neither is set, then one of them. */
export type Loaded<Value> = { readonly value?: Value; readonly error?: string };

/**
 * Loads a value when one of the inputs changes; an answer to older inputs is dropped. A later version is loaded while the
 * value before stays.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: readonly unknown[],
  version = 0,
): Loaded<Value> {
  const [loaded, setLoaded] = useState<Loaded<Value>>({});
  useEffect(() => setLoaded({}), inputs);
  useEffect(() => {
    const aborted = new AbortController();
    load(aborted.signal).then(
      (value) => aborted.signal.aborted || setLoaded({ value }),
      (error: Error) => aborted.signal.aborted || setLoaded({ error: error.message }),
    );
    return () => aborted.abort();
  }, [...inputs, version]);
  return loaded;
}
