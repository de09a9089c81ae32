import type { Position, RecordedEvent } from '../../event-log/event-log.ts';

/** A deviation that a check found. */
export type Finding = {
  readonly check: 'files' | 'log' | 'objects' | 'identifiers' | 'anchors' | 'views';
  readonly code: string;
  /** A sentence that names the deviation, and where it is. */
  readonly text: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly position?: Position;
  /** SHA-256. */
  readonly object?: string;
  readonly file?: string;
  /** Number of events that the anchor covers. */
  readonly anchor?: number;
  /** Streams among which the cause is, if it is not known more exactly. */
  readonly streams?: readonly string[];
};

/** How much was checked and found right, except for what the findings name. */
export type Counts = Record<
  | 'events'
  | 'streams'
  | 'objects'
  | 'bytes'
  /** Number of objects that are missing or corrupt. */
  | 'faultyObjects'
  | 'deposits'
  | 'anchors'
  /** Number of objects and deposits that the interrupted run had already proven. */
  | 'provenBefore',
  number
>;

export type ReportOptions = {
  /** Maximum number of findings to report; further ones are only counted. */
  readonly limit: number;
  readonly onFinding: (finding: Finding) => void;
};

/** Collects the results of a verification. */
export class Report {
  readonly counts: Counts = {
    events: 0,
    streams: 0,
    objects: 0,
    bytes: 0,
    faultyObjects: 0,
    deposits: 0,
    anchors: 0,
    provenBefore: 0,
  };
  /** Facts that a reader needs to judge how much was proven. */
  readonly notes: string[] = [];
  readonly #options: ReportOptions;
  #findings = 0;
  #firstEvent: Finding | undefined;
  #firstObject: Finding | undefined;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  find(finding: Finding): void {
    this.#findings += 1;
    if (finding.position !== undefined && finding.position < (this.#firstEvent?.position ?? '~')) {
      this.#firstEvent = finding;
    }
    if (finding.object !== undefined) this.#firstObject ??= finding;
    if (this.#findings <= this.#options.limit) this.#options.onFinding(finding);
  }

  get findings(): number {
    return this.#findings;
  }

  /** Whether further findings are only counted. */
  get isFull(): boolean {
    return this.#findings >= this.#options.limit;
  }

  /** The first bad event in the order of the log. */
  get firstBadEvent(): Finding | undefined {
    return this.#firstEvent;
  }

  get firstBadObject(): Finding | undefined {
    return this.#firstObject;
  }
}

/** A part of a verification. */
export type Check = (report: Report) => Promise<void>;

/**
 * Returns a finding about an event. `what` is a predicate, such as "has another hash"; a final full stop is removed.
 */
export function eventFinding(
  { stream, revision, position, type }: RecordedEvent,
  check: Finding['check'],
  code: string,
  what: string,
): Finding {
  const text = `The ${type} at revision ${revision} of ${stream} (position ${position}) ${what.replace(/\.$/, '')}.`;
  return { check, code, text, stream, revision, position };
}
