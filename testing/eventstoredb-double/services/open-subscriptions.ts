import { status } from '@grpc/grpc-js';
import { type Refusal, refusal } from './fault-switches.ts';

/** `silence`: the call stays open, but nothing more comes through it. */
export type DroppedHow = 'error' | 'silent end' | 'silence';

/** The server's side of a call that stays open. */
export type OpenCall = {
  end(): unknown;
  emit(event: 'error', refusal: Refusal): boolean;
  on(event: 'cancelled', listener: () => void): unknown;
};

/** The calls that stay open, so that they can be dropped. */
export class OpenSubscriptions {
  readonly #calls = new Map<OpenCall, () => void>();

  get count(): number {
    return this.#calls.size;
  }

  /** Calls `closed` once, when the client or the server ends the call. */
  add(call: OpenCall, closed: () => void): void {
    this.#calls.set(call, closed);
    call.on('cancelled', () => this.#remove(call));
  }

  /** Must be called when the call ends otherwise. */
  forget(call: OpenCall): void {
    this.#calls.delete(call);
  }

  drop(how: DroppedHow): void {
    for (const call of this.#calls.keys()) {
      this.#remove(call);
      if (how === 'error') call.emit('error', refusal(status.UNAVAILABLE));
      else if (how === 'silent end') call.end();
    }
  }

  #remove(call: OpenCall): void {
    const closed = this.#calls.get(call);
    this.#calls.delete(call);
    closed?.();
  }
}
