import { CodedError } from '../tools/coded-error.ts';
import type { ArchiveFault } from './archive-reader.ts';

export type FaultCode =
  | 'UNKNOWN_FORMAT'
  | 'CORRUPT'
  | 'TRUNCATED'
  | 'TRAILING_BYTES'
  | 'OVERLAP'
  | 'HEADER_MISMATCH'
  | 'CRC_MISMATCH'
  | 'SIZE_MISMATCH'
  | 'ENCRYPTED'
  | 'UNSUPPORTED'
  | 'SPECIAL_FILE'
  | 'DUPLICATE'
  | 'PATH_CONFLICT'
  | 'PATH_TRAVERSAL'
  | 'ABSOLUTE_PATH'
  | 'BAD_NAME'
  | 'NAME_TOO_LONG'
  | 'PATH_TOO_LONG'
  | 'PATHS_TOO_LARGE'
  | 'TOO_DEEP'
  | 'TOO_LARGE'
  | 'TOO_MANY_ENTRIES'
  | 'RATIO'
  | 'BAD_LINK'
  | 'LINK_OUT_OF_TREE'
  | 'LINK_MODE'
  | 'UNMARKED_UTF8'
  | 'OTHER_NAME'
  | 'DOTS_IN_NAME'
  | 'BACKSLASH_IN_NAME'
  | 'GIT_NAME'
  | 'NO_END_MARKER'
  | 'EMPTY'
  | 'ONLY_ARCHIVES'
  | 'CHECK_ABORTED';

/** A fault after which the rest of the archive cannot be read, or must not be. */
export class Unreadable extends CodedError<FaultCode> {}

/** Returns the fault of a corrupt archive. @param what completes the sentence. */
export function corrupt(code: FaultCode, what: string): Unreadable {
  return new Unreadable(code, `The archive is corrupt: ${what}.`);
}

const MOST = 20;

/** Collects distinct faults in the order they were found; beyond twenty the last one counts the rest. */
export class Faults {
  readonly #texts = new Map<string, ArchiveFault>();
  #more = 0;

  get none(): boolean {
    return this.#texts.size === 0;
  }

  add(code: FaultCode, text: string): void {
    if (this.#texts.has(text)) return;
    if (this.#texts.size < MOST) this.#texts.set(text, { code, text });
    else this.#more += 1;
  }

  toArray(): ArchiveFault[] {
    const faults = [...this.#texts.values()];
    const last = faults.at(-1);
    if (this.#more === 0 || last === undefined) return faults;
    return [
      ...faults.slice(0, -1),
      { code: last.code, text: `There are ${this.#more + 1} more of this kind or another.` },
    ];
  }
}
