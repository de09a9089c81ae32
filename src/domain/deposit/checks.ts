import type { Archive, ArchiveReading, EntryFacts, MetadataEntry, Reason } from './events.ts';
import { parseGitDate } from './git-date.ts';
import { mergeFacts } from './metadata.ts';

/** What a check looks at: all of it gathered before, so that the rules themselves are pure. */
export type CheckInput = {
  readonly entries: readonly MetadataEntry[];
  /** In upload order. */
  readonly archives: readonly ArchiveVerdict[];
  /** What is wrong with the archives taken together. */
  readonly conflicts: readonly Finding[];
  /** Host name under which the client's URLs must lie; `null` when it has none. */
  readonly clientDomain: string | null;
};

export type ArchiveVerdict = {
  readonly archive: Archive;
  /** `null` when the archive was refused. */
  readonly reading: ArchiveReading | null;
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
};

export type Finding = { readonly code: string; readonly text: string };

export type CheckOutcome =
  | {
      readonly verified: true;
      readonly readings: readonly ArchiveReading[];
      readonly warnings: readonly Reason[];
    }
  | { readonly verified: false; readonly reasons: readonly Reason[]; readonly warnings: readonly Reason[] };

/** All reasons to reject, together, in the order metadata, archives, url; and the warnings apart from them. */
export function check(input: CheckInput): CheckOutcome {
  const facts = mergeFacts(input.entries);
  const reasons = [
    ...metadataReasons(facts),
    ...archiveReasons(input),
    ...urlReasons(facts, input.clientDomain),
  ];
  const warnings = input.archives.flatMap(({ archive, warnings }) => named(archive, warnings));
  if (reasons.length > 0) return { verified: false, reasons: bounded(reasons), warnings: bounded(warnings) };
  const readings = input.archives.flatMap(({ reading }) => reading ?? []);
  return { verified: true, readings, warnings: bounded(warnings) };
}

function metadataReasons(facts: EntryFacts | undefined): Reason[] {
  if (!facts) return [{ code: 'NO_METADATA', text: 'The deposit has no metadata', fields: ['metadata'] }];
  return [
    ...(facts.hasAuthor ? [] : [missing('Mandatory fields are missing', 'author')]),
    ...(facts.hasTitle ? [] : [missing('Mandatory alternate fields are missing', 'title', 'name')]),
    ...dateReasons('dateCreated', facts.dateCreated),
    ...dateReasons('datePublished', facts.datePublished),
  ];
}

function missing(text: string, ...fields: string[]): Reason {
  return { code: 'FIELD_MISSING', text, fields };
}

function dateReasons(field: string, value: string | null): Reason[] {
  if (value === null || parseGitDate(value)) return [];
  const text = `"${value}" is not a date: write YYYY, YYYY-MM, YYYY-MM-DD or a date with a time`;
  return [{ code: 'BAD_DATE', text, fields: [`codemeta:${field}`] }];
}

function archiveReasons({ archives, conflicts }: CheckInput): Reason[] {
  if (archives.length === 0) {
    return [{ code: 'NO_ARCHIVE', text: 'The deposit has no software archive', fields: ['archive'] }];
  }
  return [
    ...archives.flatMap(({ archive, faults }) => named(archive, faults)),
    ...conflicts.map(({ code, text }) => ({ code, text, fields: ['archive'] })),
  ];
}

/** interface.md: "at least one url field must be compatible with the client's domain name". */
function urlReasons(facts: EntryFacts | undefined, domain: string | null): Reason[] {
  if (domain === null || facts?.urlHosts.some((host) => isWithin(host, domain))) return [];
  const text = "At least one url field must be compatible with the client's domain name";
  return [{ code: 'URL_OUTSIDE_DOMAIN', text, fields: ['codemeta:url'] }];
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

function named(archive: Archive, findings: readonly Finding[]): Reason[] {
  return findings.map(({ code, text }) => ({
    code,
    text: `${archive.filename}: ${text}`,
    fields: ['archive'],
  }));
}

const MAX_REASONS = 20;
const MAX_TEXT = 300;

/** Events stay small however much is wrong: the rest is counted. */
function bounded(reasons: readonly Reason[]): readonly Reason[] {
  const shown = reasons.slice(0, MAX_REASONS).map((reason) => ({ ...reason, text: cut(reason.text) }));
  const rest = reasons.length - shown.length;
  if (rest === 0) return shown;
  return [
    ...shown,
    { code: 'MORE', text: `and ${rest} more`, fields: [...new Set(reasons.flatMap((r) => r.fields))] },
  ];
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
