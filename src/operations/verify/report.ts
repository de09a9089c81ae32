import type { Position, RecordedEvent } from '../../event-log/event-log.ts';

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

export type ReportOptions = {
  /** Maximum number of findings to report; further ones are only counted. */
  readonly limit: number;
  readonly onFinding: (finding: Finding) => void;
};

export class Report {
  /** How much was checked and found right, except for what the findings name. */
  readonly counts = {
    events: 0,
    streams: 0,
    objects: 0,
    bytes: 0,
    /** Number of objects that are missing or corrupt. */
    faultyObjects: 0,
    deposits: 0,
    anchors: 0,
    /** Number of objects and deposits that the interrupted run had already proven. */
    provenBefore: 0,
  };
  /** Facts that a reader needs to judge how much was proven. */
  readonly notes: string[] = [];
  readonly #options: ReportOptions;
  findings = 0;
  /** The first bad event in the order of the log. */
  firstBadEvent: Finding | undefined;
  firstBadObject: Finding | undefined;

  constructor(options: ReportOptions) {
    this.#options = options;
  }

  find(finding: Finding): void {
    this.findings += 1;
    if (finding.position !== undefined && finding.position < (this.firstBadEvent?.position ?? '~')) {
      this.firstBadEvent = finding;
    }
    if (finding.object !== undefined) this.firstBadObject ??= finding;
    if (this.findings <= this.#options.limit) this.#options.onFinding(finding);
  }

  /** Whether further findings are only counted. */
  get isFull(): boolean {
    return this.findings >= this.#options.limit;
  }
}

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
