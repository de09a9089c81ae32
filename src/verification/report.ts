import type { Position } from '../event-log/event-log.ts';

/** One thing that is not as it was or should be. */
export type Finding = {
  readonly check: 'files' | 'log' | 'objects' | 'identifiers' | 'anchors' | 'views';
  readonly code: string;
  /** A sentence that names what is wrong, and where. */
  readonly text: string;
  readonly stream?: string;
  readonly revision?: number;
  readonly position?: Position;
  /** SHA-256. */
  readonly object?: string;
  readonly file?: string;
  /** Number of events that the anchor covers. */
  readonly anchor?: number;
  /** Where the cause lies, when it cannot be told more exactly. */
  readonly streams?: readonly string[];
};

/** How much was looked at and found right, apart from what the findings name. */
export type Counts = Record<
  | 'events'
  | 'streams'
  | 'objects'
  | 'bytes'
  /** Those that are missing or others, besides. */
  | 'faultyObjects'
  | 'deposits'
  | 'anchors'
  /** Objects and deposits, in the interrupted run that this one goes on with. */
  | 'provenBefore',
  number
>;

export type ReportOptions = {
  /** Findings that are told; more are only counted. */
  readonly limit: number;
  readonly tell: (finding: Finding) => void;
};

/** What comes out of a verification, while it goes on and at its end. */
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
  /** What a reader must know to judge how much was proven. */
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
    if (this.#findings <= this.#options.limit) this.#options.tell(finding);
  }

  get findings(): number {
    return this.#findings;
  }

  /** Where more can be told, or not. */
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
