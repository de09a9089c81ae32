import { type Fact, nameOrQuoted, pluralize } from '../description.ts';
import { nameOf, targetText } from './describe.ts';
import type { Archive, MetadataEntry } from './events.ts';
import type { Deposit } from './state.ts';
import { reasonText } from './status-detail.ts';

/** Returns all facts about a deposit except its status, for operators to read. */
export function depositFacts(deposit: Deposit): readonly Fact[] {
  if (deposit.status === 'absent') return [];
  const { client, collection, uuid, archives, entries } = deposit;
  const described = deposit.status === 'done' ? [...entries, ...(deposit.updates ?? [])] : entries;
  const facts: readonly Fact[] = [
    { label: 'client', values: [client] },
    { label: 'collection', values: [collection] },
    { label: 'uuid', values: [uuid] },
    {
      label: 'archives',
      values: archives.map(archiveText),
      brief: archives.map(({ filename }) => nameOrQuoted(filename)),
    },
    { label: 'metadata', values: described.map(entryText), brief: described.map(nameOf) },
    { label: 'origin', values: 'origin' in deposit ? [deposit.origin] : [] },
    { label: 'completed', values: 'completedAt' in deposit ? [deposit.completedAt] : [], brief: [] },
    {
      label: 'check',
      values: 'checkAttempt' in deposit ? [`number ${deposit.checkAttempt}`] : [],
      brief: [],
    },
    { label: 'load', values: 'loadAttempt' in deposit ? [`number ${deposit.loadAttempt}`] : [], brief: [] },
    { label: 'reasons', values: reasonsOf(deposit) },
    { label: 'warnings', values: 'warnings' in deposit ? deposit.warnings.map(reasonText) : [] },
    { label: 'identifiers', values: identifiersOf(deposit) },
  ];
  return facts.filter(
    ({ label, values }) => values.length > 0 || label === 'archives' || label === 'metadata',
  );
}

function archiveText({ filename, length, sha256 }: Archive): string {
  return `${nameOrQuoted(filename)} (${pluralize(length, 'byte')}, sha256 ${sha256})`;
}

function entryText(entry: MetadataEntry): string {
  return `${nameOf(entry)} (${pluralize(entry.length, 'byte')}, sha256 ${entry.sha256})`;
}

/** Returns why the deposit has its status. */
function reasonsOf(deposit: Deposit): readonly string[] {
  if (deposit.status === 'rejected') return deposit.reasons.map(reasonText);
  if (deposit.status === 'failed') return [reasonText(deposit.reason)];
  return deposit.status === 'deleted' ? [deposit.reason] : [];
}

function identifiersOf(deposit: Deposit): string[] {
  if (deposit.status !== 'done') return [];
  if ('target' in deposit) return [targetText(deposit.target)];
  const { directory, revision, snapshot } = deposit.loaded;
  return [`swh:1:dir:${directory}`, `swh:1:rev:${revision}`, `swh:1:snp:${snapshot}`];
}
