import type { Archive, ArchiveReading, EntryFacts, MetadataEntry, Reason } from './events.ts';
import { isWithin } from './host-name.ts';
import { mergeFacts } from './metadata.ts';
import { judgeMetadata } from './metadata-checks.ts';

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
  const metadata = judgeMetadata(input.entries);
  const facts = mergeFacts(input.entries);
  const reasons = boundedTogether(
    metadata.reasons,
    archiveReasons(input),
    urlReasons(facts, input.clientDomain),
  );
  const found = input.archives.flatMap((verdict) => named(verdict.archive, verdict.warnings));
  const all = [...metadata.warnings, ...found];
  if (reasons.length > 0) return { verified: false, reasons, warnings: boundedBeside(reasons, all) };
  const readings = input.archives.flatMap(({ reading }) => reading ?? []);
  return { verified: true, readings, warnings: boundedBeside(readings, all) };
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

function named(archive: Archive, findings: readonly Finding[]): Reason[] {
  return findings.map(({ code, text }) => ({
    code,
    text: `${archive.filename}: ${text}`,
    fields: ['archive'],
  }));
}

const MAX_TEXT = 300;
const MAX_FIELDS = 5;
/** Of JSON: reasons and warnings together fit into an event, each kind with a line for those left out. */
const MAX_REASON_BYTES = 6_800;
const MAX_WARNING_BYTES = 1_500;
const MAX_BYTES = 7_300;

/** Events stay small however much is wrong, and no kind of fault hides that there are others. */
function boundedTogether(
  metadata: readonly Reason[],
  archives: readonly Reason[],
  url: readonly Reason[],
): readonly Reason[] {
  const ofMetadata = bounded(metadata, MAX_REASON_BYTES / 2);
  const beside = jsonBytes([...ofMetadata, ...url]);
  return [...ofMetadata, ...bounded(archives, MAX_REASON_BYTES - beside), ...url];
}

/** As many as there is room for; the rest is counted. */
function bounded(reasons: readonly Reason[], maxBytes: number): readonly Reason[] {
  let bytes = 0;
  const shown = reasons
    .map((reason) => ({ ...reason, text: cut(reason.text) }))
    .filter((reason) => (bytes += jsonBytes(reason) + 1) <= maxBytes);
  const rest = reasons.length - shown.length;
  if (rest === 0) return shown;
  const fields = [...new Set(reasons.flatMap((reason) => reason.fields))].slice(0, MAX_FIELDS);
  return [...shown, { code: 'MORE', text: `and ${rest} more`, fields }];
}

/** As many as there is room for in an event with the others. */
function boundedBeside(others: readonly unknown[], warnings: readonly Reason[]): readonly Reason[] {
  return bounded(warnings, Math.min(MAX_WARNING_BYTES, MAX_BYTES - jsonBytes(others)));
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** Never through the middle of a surrogate pair: half of one is no text for strict readers of JSON. */
function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
