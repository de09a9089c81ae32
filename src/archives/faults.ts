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

/**
 * Collects distinct faults in the order they were found. Beyond twenty only the first of each code is listed; one more
 * counts the rest.
 */
export class Faults {
  readonly #texts = new Map<string, ArchiveFault>();
  readonly #codes = new Set<FaultCode>();
  /** The faults that are not listed, with the code of the last. */
  #rest: { readonly code: FaultCode; readonly count: number } | undefined;

  get none(): boolean {
    return this.#texts.size === 0;
  }

  add(code: FaultCode, text: string): void {
    if (this.#texts.has(text)) return;
    if (this.#texts.size < MOST || !this.#codes.has(code)) {
      this.#texts.set(text, { code, text });
      this.#codes.add(code);
    } else this.#rest = { code, count: (this.#rest?.count ?? 0) + 1 };
  }

  has(code: FaultCode): boolean {
    return this.#codes.has(code);
  }

  toArray(): ArchiveFault[] {
    const faults = [...this.#texts.values()];
    if (this.#rest === undefined) return faults;
    const { code, count } = this.#rest;
    return [...faults, { code, text: `Not listed: ${count} more of these kinds.` }];
  }
}
