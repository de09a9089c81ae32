import { useEffect, useState } from 'preact/hooks';

/** Functions that are called with what happens outside of components. */
export class Listeners<Value> {
  readonly #listeners = new Set<(value: Value) => void>();

  /** Calls the listener with each later value. Returns what ends that. */
  listen(listener: (value: Value) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  call(value: Value): void {
    for (const listener of this.#listeners) listener(value);
  }
}

/** A value that changes outside of components. */
export class Store<Value> extends Listeners<Value> {
  #value: Value;

  constructor(value: Value) {
    super();
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set value(value: Value) {
    this.#value = value;
    this.call(value);
  }
}

/** Returns the value of a store, and renders again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [value, setValue] = useState(() => store.value);
  useEffect(() => {
    setValue(() => store.value);
    return store.listen((later) => setValue(() => later));
  }, [store]);
  return value;
}
