import type { EntryFacts, FieldFault, MetadataEntry, Reason } from '../events.ts';
import { reasonText } from '../status-detail.ts';
import { parseGitDate } from './git-date.ts';
import { isSubdomainOf } from './host-name.ts';
import { mergeFacts } from './merge-facts.ts';

/** Reasons to reject the metadata of a deposit, and warnings. */
export type MetadataFindings = { readonly reasons: readonly Reason[]; readonly warnings: readonly Reason[] };

export const NO_METADATA: Reason = {
  code: 'NO_METADATA',
  text: 'The deposit has no metadata',
  fields: ['metadata'],
};

/** Validates all entries together. Only what Software Heritage rejects is a reason; all else is a warning. */
export function validateMetadata(entries: readonly Pick<MetadataEntry, 'facts'>[]): MetadataFindings {
  const facts = mergeFacts(entries);
  if (!facts) return { reasons: [NO_METADATA], warnings: [] };
  const faults = entries.flatMap(({ facts: { fieldFaults = [] } }, index) =>
    fieldFaults.map((fault) => ({
      fault,
      isReason: isRejected(fault) && !isSuperseded(fault, entries.slice(0, index)),
    })),
  );
  const reasons = distinct([
    ...(facts.hasAuthor ? [] : [missingFields('Mandatory fields are missing', 'author')]),
    ...(facts.hasTitle ? [] : [missingFields('Mandatory alternate fields are missing', 'title', 'name')]),
    ...dateReasons('dateCreated', facts.dateCreated),
    ...dateReasons('datePublished', facts.datePublished),
    ...faults.filter(({ isReason }) => isReason).map(({ fault }) => reasonOf(fault)),
  ]);
  const warnings = distinct([
    ...faults.filter(({ isReason }) => !isReason).map(({ fault }) => reasonOf(fault)),
    ...omittedFaults(entries),
    ...(haveNoProvenance(entries)
      ? [missingFields('Suggested fields are missing', 'metadata-provenance')]
      : []),
  ]);
  const reasonTexts = new Set(reasons.map(reasonText));
  return { reasons, warnings: warnings.filter((warning) => !reasonTexts.has(reasonText(warning))) };
}

/** Limits of the domain reason: hosts, and characters of all values. */
const [MAX_HOSTS, MAX_VALUES] = [5, 300];

/** Returns the reason to reject if no url is under the domain of the client (interface.md, Life of a deposit). */
export function domainReasons(
  entries: readonly Pick<MetadataEntry, 'facts'>[],
  domain: string | null,
): readonly Reason[] {
  if (domain === null) return [];
  const hosts = mergeFacts(entries)?.urlHosts ?? [];
  if (hosts.some((host) => isSubdomainOf(host, domain))) return [];
  const text = "At least one url field must be compatible with the client's domain name";
  const found = hosts.length === 0 ? 'none' : hosts.slice(0, MAX_HOSTS).join(', ');
  const values = `expected ${domain}, found ${found}${hosts.length > MAX_HOSTS ? ', …' : ''}`;
  const fields = ['codemeta:url'];
  return [{ code: 'URL_OUTSIDE_DOMAIN', text, fields, values: values.slice(0, MAX_VALUES) }];
}

/**
 * Returns whether a fault is a reason to reject. In `CodeMeta 2.0` these are what Software Heritage rejects; it does not check
 * CodeMeta 3.0.
 */
function isRejected({ kind, field, vocabulary }: FieldFault): boolean {
  if (kind === 'date') return REJECTED_DATES.includes(field);
  return vocabulary === 'CodeMeta 2.0' && (kind === 'nameless' || kind === 'affiliation');
}

const REJECTED_DATES = ['codemeta:dateCreated', 'codemeta:datePublished', 'codemeta:dateModified'];

/** Returns whether an earlier entry has set the field, whose first value counts. */
function isSuperseded(
  { kind, field }: FieldFault,
  earlier: readonly Pick<MetadataEntry, 'facts'>[],
): boolean {
  if (kind !== 'date') return false;
  if (field === 'codemeta:dateCreated') return earlier.some(({ facts }) => facts.dateCreated !== null);
  if (field === 'codemeta:datePublished') return earlier.some(({ facts }) => facts.datePublished !== null);
  return false;
}

function reasonOf(fault: FieldFault): Reason {
  const { code, text } = SENTENCES[fault.kind](fault);
  return { code, text, fields: [fault.field] };
}

const SENTENCES: Readonly<Record<FieldFault['kind'], (fault: FieldFault) => Omit<Reason, 'fields'>>> = {
  date: ({ value }) => badDate(value),
  nameless: () => ({ code: 'NO_PERSON_NAME', text: 'A person or organization has no name' }),
  'person-without-name': ({ value }) => ({
    code: 'PERSON_WITHOUT_NAME',
    text: `"${value}" has no name element of its own: write the whole name in one`,
  }),
  affiliation: () => ({ code: 'NO_AFFILIATION_NAME', text: 'An affiliation has no name' }),
  term: ({ value, vocabulary, hint }) => ({
    code: 'UNKNOWN_TERM',
    text: `"${value}" is not a term of ${vocabulary}${hint === null ? '' : `: did you mean ${hint}?`}`,
  }),
  url: ({ value }) => ({ code: 'NOT_A_URL', text: `"${value}" is not an absolute URL` }),
};

/** Checks dates, including those of entries that are older than the check of fields. */
function dateReasons(field: string, value: EntryFacts['dateCreated']): Reason[] {
  if (value === null || parseGitDate(value)) return [];
  return [{ ...badDate(value), fields: [`codemeta:${field}`] }];
}

function badDate(value: string): Omit<Reason, 'fields'> {
  const text = `"${value}" is not a date: write YYYY, YYYY-MM, YYYY-MM-DD or a date with a time`;
  return { code: 'BAD_DATE', text };
}

function missingFields(text: string, ...fields: string[]): Reason {
  return { code: 'FIELD_MISSING', text, fields };
}

function omittedFaults(entries: readonly Pick<MetadataEntry, 'facts'>[]): Reason[] {
  const count = entries.reduce((sum, { facts }) => sum + (facts.fieldFaultsLeftOut ?? 0), 0);
  return count === 0
    ? []
    : [{ code: 'MORE', text: `and at least ${count} more in the metadata`, fields: ['metadata'] }];
}

/** Returns whether no entry names a provenance. Entries older than this field count as unknown, not as without. */
function haveNoProvenance(entries: readonly Pick<MetadataEntry, 'facts'>[]): boolean {
  return entries.every(({ facts }) => facts.provenance === null);
}

function distinct(reasons: readonly Reason[]): readonly Reason[] {
  return [...new Map(reasons.map((reason) => [reasonText(reason), reason])).values()];
}
