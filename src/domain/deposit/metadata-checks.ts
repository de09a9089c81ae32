import type { EntryFacts, FieldFault, MetadataEntry, Reason } from './events.ts';
import { parseGitDate } from './git-date.ts';
import { mergeFacts } from './metadata.ts';
import { reasonText } from './status-detail.ts';

/** What is wrong with the metadata of a deposit, and what is only worth a word. */
export type MetadataFindings = { readonly reasons: readonly Reason[]; readonly warnings: readonly Reason[] };

/**
 * Judges all entries together. Nothing is a reason to reject that Software Heritage takes; what else is not as Atom
 * and CodeMeta have it is a warning.
 */
export function judgeMetadata(entries: readonly Pick<MetadataEntry, 'facts'>[]): MetadataFindings {
  const facts = mergeFacts(entries);
  if (!facts) {
    const nothing = { code: 'NO_METADATA', text: 'The deposit has no metadata', fields: ['metadata'] };
    return { reasons: [nothing], warnings: [] };
  }
  const faults = entries.flatMap(({ facts: { fieldFaults = [] } }, index) =>
    fieldFaults.map((fault) => ({
      fault,
      rejects: rejects(fault) && !isOverruled(fault, entries.slice(0, index)),
    })),
  );
  const reasons = distinct([
    ...(facts.hasAuthor ? [] : [missing('Mandatory fields are missing', 'author')]),
    ...(facts.hasTitle ? [] : [missing('Mandatory alternate fields are missing', 'title', 'name')]),
    ...dateReasons('dateCreated', facts.dateCreated),
    ...dateReasons('datePublished', facts.datePublished),
    ...faults.filter(({ rejects }) => rejects).map(({ fault }) => reasonOf(fault)),
  ]);
  const warnings = distinct([
    ...faults.filter(({ rejects }) => !rejects).map(({ fault }) => reasonOf(fault)),
    ...leftOut(entries),
    ...(isUnvouched(entries) ? [missing('Suggested fields are missing', 'metadata-provenance')] : []),
  ]);
  const told = new Set(reasons.map(reasonText));
  return { reasons, warnings: warnings.filter((warning) => !told.has(reasonText(warning))) };
}

/** For `CodeMeta 2.0`, what Software Heritage refuses; entries in CodeMeta 3.0 it does not look into. */
function rejects({ kind, field, vocabulary }: FieldFault): boolean {
  if (kind === 'date') return REJECTED_DATES.includes(field);
  return vocabulary === 'CodeMeta 2.0' && (kind === 'nameless' || kind === 'affiliation');
}

const REJECTED_DATES = ['codemeta:dateCreated', 'codemeta:datePublished', 'codemeta:dateModified'];

/** An earlier entry has given the field, which keeps its first value. */
function isOverruled({ kind, field }: FieldFault, earlier: readonly Pick<MetadataEntry, 'facts'>[]): boolean {
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

/** Also for entries whose faults were not looked for when they came. */
function dateReasons(field: string, value: EntryFacts['dateCreated']): Reason[] {
  if (value === null || parseGitDate(value)) return [];
  return [{ ...badDate(value), fields: [`codemeta:${field}`] }];
}

function badDate(value: string): Omit<Reason, 'fields'> {
  const text = `"${value}" is not a date: write YYYY, YYYY-MM, YYYY-MM-DD or a date with a time`;
  return { code: 'BAD_DATE', text };
}

function missing(text: string, ...fields: string[]): Reason {
  return { code: 'FIELD_MISSING', text, fields };
}

function leftOut(entries: readonly Pick<MetadataEntry, 'facts'>[]): Reason[] {
  const count = entries.reduce((sum, { facts }) => sum + (facts.fieldFaultsLeftOut ?? 0), 0);
  return count === 0
    ? []
    : [{ code: 'MORE', text: `and at least ${count} more in the metadata`, fields: ['metadata'] }];
}

/** Entries of which it is not known say nothing. */
function isUnvouched(entries: readonly Pick<MetadataEntry, 'facts'>[]): boolean {
  return entries.every(({ facts }) => facts.provenance === null);
}

function distinct(reasons: readonly Reason[]): readonly Reason[] {
  return [...new Map(reasons.map((reason) => [reasonText(reason), reason])).values()];
}
