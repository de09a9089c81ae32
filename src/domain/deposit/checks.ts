import type { Archive, ArchiveReading, MetadataEntry, Reason } from './events.ts';
import { jsonBytes } from './limits.ts';
import { domainReasons, NO_METADATA, validateMetadata } from './metadata/metadata-checks.ts';

/** The input of a check. It is collected beforehand, so that the rules themselves are pure. */
export type CheckInput = {
  readonly entries: readonly MetadataEntry[];
  /** In upload order. */
  readonly archives: readonly ArchiveVerdict[];
  /** Findings about the archives in combination. */
  readonly conflicts: readonly Finding[];
  /** Host name that the client's URLs must be under; `null` if the client has none. */
  readonly clientDomain: string | null;
};

export type ArchiveVerdict = {
  readonly archive: Archive;
  /** `null` if the archive was refused. */
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

/** Runs all checks. Reasons to reject are collected in the order metadata, archives, URL; warnings are separate. */
export function check(input: CheckInput): CheckOutcome {
  const metadata = validateMetadata(input.entries);
  const reasons = truncateReasons(
    metadata.reasons,
    archiveReasons(input),
    domainReasons(input.entries, input.clientDomain),
  );
  const found = input.archives.flatMap((verdict) => toReasons(verdict.archive, verdict.warnings));
  const all = [...metadata.warnings, ...found];
  if (reasons.length > 0) return { verified: false, reasons, warnings: truncateWarnings(reasons, all) };
  const readings = input.archives.flatMap(({ reading }) => reading ?? []);
  return { verified: true, readings, warnings: truncateWarnings(readings, all) };
}

const NO_ARCHIVE: Reason = {
  code: 'NO_ARCHIVE',
  text: 'The deposit has no software archive',
  fields: ['archive'],
};

/** Returns the reasons to reject that are known before the checks: no metadata, no archive. */
export function missingParts(deposit: {
  readonly entries: readonly unknown[];
  readonly archives: readonly unknown[];
}): readonly Reason[] {
  return [
    ...(deposit.entries.length === 0 ? [NO_METADATA] : []),
    ...(deposit.archives.length === 0 ? [NO_ARCHIVE] : []),
  ];
}

function archiveReasons({ archives, conflicts }: CheckInput): Reason[] {
  if (archives.length === 0) return [NO_ARCHIVE];
  return [
    ...archives.flatMap(({ archive, faults }) => toReasons(archive, faults)),
    ...conflicts.map(({ code, text }) => ({ code, text, fields: ['archive'] })),
  ];
}

function toReasons(archive: Archive, findings: readonly Finding[]): Reason[] {
  return findings.map(({ code, text }) => ({
    code,
    text: `${archive.filename}: ${text}`,
    fields: ['archive'],
  }));
}

const MAX_TEXT = 300;
const MAX_FIELDS = 5;
/** Bytes of JSON. Reasons and warnings together fit into an event, each list with a line for those omitted. */
const MAX_REASON_BYTES = 6_800;
const MAX_WARNING_BYTES = 1_500;
const MAX_BYTES = 7_300;

/** Truncates the reasons, so that events stay small. No kind of reason displaces the others completely. */
function truncateReasons(
  metadata: readonly Reason[],
  archives: readonly Reason[],
  url: readonly Reason[],
): readonly Reason[] {
  const ofMetadata = truncate(metadata, MAX_REASON_BYTES / 2);
  const otherBytes = jsonBytes([...ofMetadata, ...url]);
  return [...ofMetadata, ...truncate(archives, MAX_REASON_BYTES - otherBytes), ...url];
}

/** Returns the reasons that fit into the bytes, and a line with the number of those omitted. */
function truncate(reasons: readonly Reason[], maxBytes: number): readonly Reason[] {
  let bytes = 0;
  const shown = reasons
    .map((reason) => ({ ...reason, text: truncateText(reason.text) }))
    .filter((reason) => (bytes += jsonBytes(reason) + 1) <= maxBytes);
  const rest = reasons.length - shown.length;
  if (rest === 0) return shown;
  const fields = [...new Set(reasons.flatMap((reason) => reason.fields))].slice(0, MAX_FIELDS);
  return [...shown, { code: 'MORE', text: `and ${rest} more`, fields }];
}

/** Truncates the warnings to the bytes that the other parts of the event leave. */
function truncateWarnings(others: readonly unknown[], warnings: readonly Reason[]): readonly Reason[] {
  return truncate(warnings, Math.min(MAX_WARNING_BYTES, MAX_BYTES - jsonBytes(others)));
}

/** Shortens a text, never inside a surrogate pair: strict JSON readers reject half of one. */
function truncateText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
