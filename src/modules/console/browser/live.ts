import { useEffect, useState } from 'preact/hooks';
import type { LiveChange } from '../protocol/live-change.ts';
import { signIn } from './api.ts';

/** State of the connection over which the server reports changes. */
export type LiveState = 'live' | 'paused' | 'reconnecting';

/** The one event stream of this tab; it is closed while the tab is hidden. */
class Live {
  readonly #onState = new Set<(state: LiveState) => void>();
  readonly #onChange = new Set<(change: LiveChange) => void>();
  readonly #onOpen = new Set<() => void>();
  #source: EventSource | undefined;
  #state: LiveState = 'paused';
  #isPaused = false;
  #staleSince: string | undefined;

  get state(): LiveState {
    return this.#state;
  }

  /** The time since when changes may be missing from the page; `undefined` before the first connection. */
  get staleSince(): string | undefined {
    return this.#staleSince;
  }

  start(): void {
    document.addEventListener('visibilitychange', () => this.#update());
    this.#update();
  }

  /** Stops and continues the stream, for a reader who wants the page to stand still. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#update();
  }

  onState(listener: (state: LiveState) => void): () => void {
    this.#onState.add(listener);
    return () => void this.#onState.delete(listener);
  }

  onChange(listener: (change: LiveChange) => void): () => void {
    this.#onChange.add(listener);
    return () => void this.#onChange.delete(listener);
  }

  /** Calls the listener when the stream begins, again or for the first time: the changes before it were not reported. */
  onOpen(listener: () => void): () => void {
    this.#onOpen.add(listener);
    return () => void this.#onOpen.delete(listener);
  }

  #update(): void {
    const wanted = !this.#isPaused && document.visibilityState === 'visible';
    if (wanted && !this.#source) this.#open();
    if (wanted) return;
    this.#source?.close();
    this.#source = undefined;
    this.#setState('paused');
  }

  #open(): void {
    const source = new EventSource('/console/api/live');
    this.#source = source;
    this.#setState('reconnecting');
    source.addEventListener('open', () => {
      this.#setState('live');
      for (const listener of this.#onOpen) listener();
    });
    source.addEventListener('error', () => this.#setState('reconnecting'));
    source.addEventListener('end', () => signIn());
    source.addEventListener('change', (event) => {
      const change = JSON.parse(event.data as string) as LiveChange; // the server is of the same release
      for (const listener of this.#onChange) listener(change);
    });
  }

  #setState(state: LiveState): void {
    if (this.#state === 'live' && state !== 'live') this.#staleSince = new Date().toISOString();
    this.#state = state;
    for (const listener of this.#onState) listener(state);
  }
}

export const live = new Live();

/** Returns the state of the stream, and renders again when it changes. */
export function useLiveState(): LiveState {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    setState(live.state);
    return live.onState(setState);
  }, []);
  return state;
}

/** Calls the listener with each change of a deposit that the viewer may see, while the component is shown. */
export function useChanges(listener: (change: LiveChange) => void, inputs: readonly unknown[]): void {
  useEffect(() => live.onChange(listener), [...inputs]);
}
