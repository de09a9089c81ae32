import type { EventsOf } from '../decider.ts';

/**
 * Events of a deposit. Events are facts: they contain what was decided, so that a later change of configuration or code
 * changes neither history nor identifiers.
 * Times are RFC 3339 in UTC; digests are SHA-256, 64 hex digits; lengths are bytes.
 */
export type DepositEvent = EventsOf<{
  DepositCreated: {
    depositId: number;
    uuid: string;
    client: string;
    collection: string;
    createdAt: string;
    slug: string | null;
    /** The origin of the deposit, unless one of its entries names another. */
    fallbackOrigin: string;
  };
  ArchiveAdded: { depositId: number; archive: Archive };
  ArchivesReplaced: { depositId: number; archive: Archive };
  ArchivesRemoved: { depositId: number };
  /** Replaces the archive with this number, counted from 1 among all ever added; the new one gets the number. */
  ArchiveReplaced: { depositId: number; number: number; archive: Archive };
  ArchiveRemoved: { depositId: number; number: number };
  MetadataAdded: { depositId: number; entry: MetadataEntry };
  MetadataReplaced: { depositId: number; entry: MetadataEntry };
  DepositCompleted: { depositId: number; completedAt: string; origin: string };
  DepositDeleted: { depositId: number; reason: string };
  DepositVerified: {
    depositId: number;
    /** Number of the check with this outcome, from 1. */
    attempt: number;
    /** One reading per archive, in upload order. */
    readings: readonly ArchiveReading[];
    warnings: readonly Reason[];
  };
  DepositRejected: {
    depositId: number;
    attempt: number;
    reasons: readonly Reason[];
    warnings: readonly Reason[];
  };
  /** The service cannot read an object that the checks or the loading need. The status of the deposit stays. */
  CopyUnreadable: { depositId: number } & UnreadableCopy;
  ChecksRetried: { depositId: number; attempt: number };
  LoadingStarted: { depositId: number; attempt: number };
  DepositLoaded: {
    depositId: number;
    attempt: number;
    /** Name of the recipe that computed the identifiers; a later recipe gets another name. */
    policy: 'swh-1';
    /** 40 hex digits each. */
    directory: string;
    revision: string;
    snapshot: string;
    origin: string;
    /** Author and committer of the revision. */
    identity: string;
    authorDate: GitDate;
    committerDate: GitDate;
    /** Digests of the archives, in upload order. */
    archives: readonly string[];
    files: number;
    bytes: number;
    /** Digest of the object that lists every path of the tree. */
    manifest: string;
  };
  LoadingFailed: { depositId: number; attempt: number; reason: Reason };
  LoadingRetried: { depositId: number; attempt: number };
  /**
   * Metadata added to a deposit that is done; they change no identifier. `swhid` is the identifier by which the client
   * confirmed that it means this deposit.
   */
  MetadataUpdated: { depositId: number; swhid: string; entry: MetadataEntry };
  /** A deposit without software is done: its metadata describe something that an earlier deposit contains. */
  MetadataDeposited: {
    depositId: number;
    completedAt: string;
    target: MetadataTarget;
    warnings: readonly Reason[];
  };
}>;

export type DepositLoaded = Extract<DepositEvent, { type: 'DepositLoaded' }>;

export type Archive = {
  readonly sha256: string;
  readonly length: number;
  /** Sent by the client and verified; `null` if it sent none. */
  readonly md5: string | null;
  readonly filename: string;
  readonly mediaType: string;
};

/** An Atom entry. The archive store contains the original; the event contains what checks and views need of it. */
export type MetadataEntry = {
  readonly sha256: string;
  readonly length: number;
  /** The encoding in which the entry was read. */
  readonly encoding: string;
  readonly facts: EntryFacts;
};

export type EntryFacts = {
  /** First of atom:title, codemeta:name, dcterms:title; `null` if none has text. */
  readonly title: string | null;
  /** Whether there is an atom:title or codemeta:name with text. */
  readonly hasTitle: boolean;
  /** Whether there is an atom:author or codemeta:author with text. */
  readonly hasAuthor: boolean;
  readonly authors: readonly string[];
  /** Hosts of the elements whose local name contains `url`. */
  readonly urlHosts: readonly string[];
  /** Whether hosts were omitted, because an event should not contain that many. */
  readonly urlHostsTruncated: boolean;
  /** The element that names the origin, if there is one. */
  readonly origin: { readonly relation: 'create' | 'add'; readonly url: string } | null;
  readonly externalIdentifier: string | null;
  readonly version: string | null;
  /** Unparsed, as the client wrote it. */
  readonly dateCreated: string | null;
  readonly datePublished: string | null;
  /** URL of the party that vouches for the metadata. Absent in entries stored before this field existed. */
  readonly provenance?: string | null;
  /** Deviations from Atom and CodeMeta. Absent if no check found any, or if the entry is older than this check. */
  readonly fieldFaults?: readonly FieldFault[];
  /** Minimum number of further faults, omitted because an event should not contain that many. */
  readonly fieldFaultsLeftOut?: number;
  /** The object or origin that an entry without software describes. */
  readonly reference?: Reference;
};

export type FieldFault = {
  readonly kind: 'date' | 'nameless' | 'person-without-name' | 'affiliation' | 'term' | 'url';
  /** Element name with its prefix, such as `codemeta:author`. */
  readonly field: string;
  /** `Atom`, `CodeMeta 2.0` or `CodeMeta 3.0`. */
  readonly vocabulary: string;
  /** Text of the element, with white space collapsed and truncated. */
  readonly value: string;
  /** The term that was probably meant. */
  readonly hint: string | null;
};

/** A reference as the client wrote it: a SWHID, perhaps with qualifiers, or the URL of an origin. */
export type Reference = { readonly kind: 'object' | 'origin'; readonly value: string };

/** The object or origin that metadata describe. */
export type MetadataTarget =
  /** `context`: the SWHID with its qualifiers in canonical order. */
  | { readonly kind: 'object'; readonly swhid: string; readonly context: string }
  | { readonly kind: 'origin'; readonly url: string };

/** Contents of one archive, as the check read them. `listing` is the digest of the object that lists its members. */
export type ArchiveReading = {
  readonly archive: string;
  readonly format: string;
  readonly files: number;
  readonly bytes: number;
  readonly listing: string;
};

/** The work on a deposit that failed, and the object of the archive store that caused it. */
export type UnreadableCopy = {
  readonly work: 'check' | 'load';
  /** Number of that check or load, from 1. */
  readonly attempt: number;
  /** The digest that names the object. */
  readonly object: string;
  readonly code: 'OBJECT_MISSING' | 'OBJECT_CORRUPT' | 'OBJECT_UNREADABLE';
};

/** One line of a status detail. */
export type Reason = {
  readonly code: string;
  readonly text: string;
  /** Subjects of the reason: metadata fields, or `archive`. */
  readonly fields: readonly string[];
  /** Values that follow the fields, such as what was expected. Events of older releases have none. */
  readonly values?: string;
};

/** Whole seconds since 1970, and an offset such as `+0200`. */
export type GitDate = { readonly seconds: number; readonly offset: string };
