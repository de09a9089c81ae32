import type { Socket } from 'node:net';
import { clock } from '../../tools/clock.ts';
import { MAX_TARGET_LENGTH } from '../middleware/request-target.ts';

/** Maximum milliseconds of waiting for the packet that decides. */
const DECIDING_TIMEOUT_MS = 1000;
const END_OF_LINE = ' HTTP/1.1';

/**
 * Decides whether a head beyond the limit of Node's parser has a target that is too long. The parser counts the whole head
 * and returns the packet in which it stopped, but not what it read before. So the target counts from there to its end,
 * which may be in a later packet, with what the parser must have read of it.
 */
export class HeadOverflow {
  readonly #decide: (isTarget: boolean) => void;
  /** Characters of the target, if that is what the parser was reading. */
  #length: number;
  /** Characters from the end of the target on. */
  #rest = '';
  #isDecided = false;

  /**
   * Calls `decide` once, with whether the target is too long: at once, with a later packet, or after a second.
   * @param before bytes of the head that are in earlier packets, at least
   */
  constructor(socket: Socket, before: number, decide: (isTarget: boolean) => void) {
    this.#length = before;
    this.#decide = decide;
    const giveUp = (): void => this.#end(false);
    const timer = clock.setTimeout(giveUp, DECIDING_TIMEOUT_MS);
    socket.once('close', () => clock.clearTimeout(timer));
    socket.prependOnceListener('end', giveUp); // Node would end the connection first
  }

  /** Adds the packet in which the parser stopped, or one after it. */
  add(packet: Uint8Array): void {
    if (this.#isDecided) return;
    const text = Buffer.from(packet).toString('latin1');
    const end = this.#rest === '' ? text.search(/[ \r\n]/) : 0;
    this.#length += end < 0 ? text.length : end;
    if (end < 0) return;
    this.#rest += text.slice(end, end + END_OF_LINE.length);
    const isLine = /^ HTTP\/\d\.\d/.test(this.#rest);
    if (isLine || !END_OF_LINE.startsWith(this.#rest)) this.#end(isLine && this.#length > MAX_TARGET_LENGTH);
  }

  #end(isTarget: boolean): void {
    if (this.#isDecided) return;
    this.#isDecided = true;
    this.#decide(isTarget);
  }
}
