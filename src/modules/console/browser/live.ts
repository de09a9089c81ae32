import { useEffect } from 'preact/hooks';
import type { LiveChange } from '../protocol/live-change.ts';
import { type LiveMessage, liveMessages } from './live-messages.ts';
import { serviceTime } from './service-clock.ts';
import { Listeners, Store } from './store.ts';

/** State of the connection over which the server reports changes. */
type LiveState = 'live' | 'paused' | 'reconnecting';

/** Milliseconds until the first attempt to connect again, and at most between two attempts. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [1000, 30_000];

/** The one event stream of this tab; it is closed while the tab is hidden. */
class Live {
  readonly state = new Store<LiveState>('paused');
  readonly changes = new Listeners<LiveChange>();
  /** Calls when the stream begins, again or for the first time: the changes before it were not reported. */
  readonly openings = new Listeners<void>();
  /** Stops the stream; `undefined` while it is paused. */
  #stop: AbortController | undefined;
  #isPaused = false;
  #staleSince: string | undefined;

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

  #update(): void {
    const wanted = !this.#isPaused && document.visibilityState === 'visible';
    if (wanted === (this.#stop !== undefined)) return;
    this.#stop?.abort();
    this.#stop = wanted ? new AbortController() : undefined;
    this.#setState(wanted ? 'reconnecting' : 'paused');
    if (this.#stop) void this.#follow(this.#stop.signal);
  }

  /** Reads the stream until it is stopped. Connects again after it has ended or was refused, with growing pauses. */
  async #follow(stop: AbortSignal): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; !stop.aborted; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      try {
        for await (const message of liveMessages(stop)) {
          pauseMs = FIRST_PAUSE_MS;
          this.#receive(message);
        }
      } catch {
        // refused or broken off: the state says so, and requests of the page show the reason
      }
      if (stop.aborted) return;
      this.#setState('reconnecting');
      await pauseOf(pauseMs * (0.5 + Math.random() / 2), stop); // tabs do not return all at once
    }
  }

  #receive(message: LiveMessage): void {
    if (message === 'open') {
      this.#setState('live');
      this.openings.call();
    } else for (const change of message) this.changes.call(change); // at once, to be rendered once
  }

  #setState(state: LiveState): void {
    if (this.state.value === 'live' && state !== 'live') this.#staleSince = serviceTime().toISOString();
    this.state.value = state;
  }
}

function pauseOf(milliseconds: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    stop.addEventListener('abort', () => resolve());
  });
}

export const live = new Live();

/** Calls the listener with each change of a deposit that the viewer may see, while the component is shown. */
export function useChanges(listener: (change: LiveChange) => void, inputs: readonly unknown[]): void {
  useEffect(() => live.changes.listen(listener), [...inputs]);
}
