/**
 * Everything that can happen to a deposit. Events are facts: they carry what was decided, so that a later
 * change of configuration or code changes neither history nor identifiers.
 * Times are RFC 3339 in UTC; digests are SHA-256, 64 hex digits; lengths are bytes.
 */
export type DepositEvent =
  | DepositCreated
  | ArchiveAdded
  | ArchivesReplaced
  | ArchivesRemoved
  | ArchiveReplaced
  | ArchiveRemoved
  | MetadataAdded
  | MetadataReplaced
  | DepositCompleted
  | DepositDeleted
  | DepositVerified
  | DepositRejected
  | CopyUnreadable
  | ChecksRetried
  | LoadingStarted
  | DepositLoaded
  | LoadingFailed
  | LoadingRetried
  | MetadataUpdated
  | MetadataDeposited;

export type DepositCreated = {
  type: 'DepositCreated';
  data: {
    depositId: number;
    uuid: string;
    client: string;
    collection: string;
    createdAt: string;
    slug: string | null;
    /** The origin of the deposit unless one of its entries names another. */
    fallbackOrigin: string;
  };
};

export type ArchiveAdded = { type: 'ArchiveAdded'; data: { depositId: number; archive: Archive } };
export type ArchivesReplaced = { type: 'ArchivesReplaced'; data: { depositId: number; archive: Archive } };
export type ArchivesRemoved = { type: 'ArchivesRemoved'; data: { depositId: number } };
/** One of them, by its number: of all that were ever added, from 1. The new one takes its place. */
export type ArchiveReplaced = {
  type: 'ArchiveReplaced';
  data: { depositId: number; number: number; archive: Archive };
};
export type ArchiveRemoved = { type: 'ArchiveRemoved'; data: { depositId: number; number: number } };
export type MetadataAdded = { type: 'MetadataAdded'; data: { depositId: number; entry: MetadataEntry } };
export type MetadataReplaced = {
  type: 'MetadataReplaced';
  data: { depositId: number; entry: MetadataEntry };
};

export type DepositCompleted = {
  type: 'DepositCompleted';
  data: { depositId: number; completedAt: string; origin: string };
};

export type DepositDeleted = { type: 'DepositDeleted'; data: { depositId: number; reason: string } };

export type DepositVerified = {
  type: 'DepositVerified';
  data: {
    depositId: number;
    /** Which check this is the outcome of, from 1. */
    attempt: number;
    /** One per archive, in upload order. */
    readings: readonly ArchiveReading[];
    warnings: readonly Reason[];
  };
};

export type DepositRejected = {
  type: 'DepositRejected';
  data: { depositId: number; attempt: number; reasons: readonly Reason[]; warnings: readonly Reason[] };
};

/** The service cannot read an object that the checks or the loading need. The status of the deposit stays. */
export type CopyUnreadable = { type: 'CopyUnreadable'; data: { depositId: number } & UnreadableCopy };

export type ChecksRetried = { type: 'ChecksRetried'; data: { depositId: number; attempt: number } };

export type LoadingStarted = { type: 'LoadingStarted'; data: { depositId: number; attempt: number } };

export type DepositLoaded = {
  type: 'DepositLoaded';
  data: {
    depositId: number;
    attempt: number;
    /** The recipe by which the identifiers were made; a later recipe gets another name. */
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
};

export type LoadingFailed = {
  type: 'LoadingFailed';
  data: { depositId: number; attempt: number; reason: Reason };
};

export type LoadingRetried = { type: 'LoadingRetried'; data: { depositId: number; attempt: number } };

/** Added once the deposit was done; it changes no identifier. */
export type MetadataUpdated = {
  type: 'MetadataUpdated';
  /** `swhid`: by which the client showed that it means this deposit. */
  data: { depositId: number; swhid: string; entry: MetadataEntry };
};

/** A deposit without software is done: its metadata are about something that an earlier deposit brought. */
export type MetadataDeposited = {
  type: 'MetadataDeposited';
  data: { depositId: number; completedAt: string; target: MetadataTarget; warnings: readonly Reason[] };
};

export type Archive = {
  readonly sha256: string;
  readonly length: number;
  /** Told by the client and found true. */
  readonly md5: string | null;
  readonly filename: string;
  readonly mediaType: string;
};

/** An Atom entry: kept verbatim as an object of the store; here is what checks and views need of it. */
export type MetadataEntry = {
  readonly sha256: string;
  readonly length: number;
  /** The encoding it was read in. */
  readonly encoding: string;
  readonly facts: EntryFacts;
};

export type EntryFacts = {
  /** First of atom:title, codemeta:name, dcterms:title; `null` when none has text. */
  readonly title: string | null;
  /** An atom:title or codemeta:name with text is there. */
  readonly hasTitle: boolean;
  /** An atom:author or codemeta:author with text is there. */
  readonly hasAuthor: boolean;
  readonly authors: readonly string[];
  /** Hosts of the elements whose local name contains `url`. */
  readonly urlHosts: readonly string[];
  /** There were more hosts than an event should hold. */
  readonly urlHostsTruncated: boolean;
  /** The element naming the origin, if there is one. */
  readonly origin: { readonly relation: 'create' | 'add'; readonly url: string } | null;
  readonly externalIdentifier: string | null;
  readonly version: string | null;
  /** As written. */
  readonly dateCreated: string | null;
  readonly datePublished: string | null;
  /** URL of whoever vouches for the metadata. Entries kept before it was looked for have no such field. */
  readonly provenance?: string | null;
  /** What is not as Atom and CodeMeta have it; left out when nothing is, or it was not looked for yet. */
  readonly fieldFaults?: readonly FieldFault[];
  /** How many more there were than an event should hold, at least. */
  readonly fieldFaultsLeftOut?: number;
  /** What the entry is about when it comes without software. */
  readonly reference?: Reference;
};

export type FieldFault = {
  readonly kind: 'date' | 'nameless' | 'person-without-name' | 'affiliation' | 'term' | 'url';
  /** With its prefix, as in `codemeta:author`. */
  readonly field: string;
  /** `Atom`, `CodeMeta 2.0` or `CodeMeta 3.0`. */
  readonly vocabulary: string;
  /** As written, white space collapsed, cut. */
  readonly value: string;
  /** What was probably meant. */
  readonly hint: string | null;
};

/** As written: a SWHID, perhaps with qualifiers, or the URL of an origin. */
export type Reference = { readonly kind: 'object' | 'origin'; readonly value: string };

/** What metadata are about. */
export type MetadataTarget =
  /** `context`: with its qualifiers, in their canonical order. */
  | { readonly kind: 'object'; readonly swhid: string; readonly context: string }
  | { readonly kind: 'origin'; readonly url: string };

/** What the check read in one archive. `listing` is the digest of the object that lists its members. */
export type ArchiveReading = {
  readonly archive: string;
  readonly format: string;
  readonly files: number;
  readonly bytes: number;
  readonly listing: string;
};

/** Which work on a deposit failed, and for the fault of which object of the archive store. */
export type UnreadableCopy = {
  readonly work: 'check' | 'load';
  /** The number of that check or load, from 1. */
  readonly attempt: number;
  /** The digest that names the object. */
  readonly object: string;
  readonly code: 'OBJECT_MISSING' | 'OBJECT_CORRUPT' | 'OBJECT_UNREADABLE';
};

/** One line of a status detail. */
export type Reason = {
  readonly code: string;
  readonly text: string;
  /** What the reason is about: metadata fields, or `archive`. */
  readonly fields: readonly string[];
};

/** Whole seconds since 1970 and an offset like `+0200`. */
export type GitDate = { readonly seconds: number; readonly offset: string };
