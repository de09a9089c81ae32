import { assertAbsent, assertExists } from '../assert-status.ts';
import type { Command } from '../commands.ts';
import { DepositRefusal } from '../errors.ts';
import type { DepositEvent, EntryFacts } from '../events.ts';
import { assertEntries, assertLengths } from '../limits.ts';
import type { Deposit } from '../state.ts';
import { reasonText } from '../status-detail.ts';
import { domainReasons, validateMetadata } from './metadata-checks.ts';
import { assertOriginAllowed, assertOwnOrigin, assertProvenanceAllowed } from './origin.ts';

/** Creates a deposit of metadata without software, which is done at once. */
export function depositMetadata(
  command: Command<'DepositMetadata'>,
  deposit: Deposit,
): readonly DepositEvent[] {
  const { depositId, uuid, client, collection, fallbackOrigin, entry, target, now } = command;
  assertAbsent(depositId, deposit);
  assertMetadataDeposit(entry.facts, command);
  const { warnings } = validateMetadata([entry]);
  return [
    {
      type: 'DepositCreated',
      data: { depositId, uuid, client, collection, createdAt: now, slug: null, fallbackOrigin },
    },
    { type: 'MetadataAdded', data: { depositId, entry } },
    { type: 'MetadataDeposited', data: { depositId, completedAt: now, target, warnings } },
  ];
}

/** Adds metadata to a deposit that is done. The client proves that it means this deposit by naming its identifier. */
export function updateMetadata(
  command: Command<'UpdateMetadata'>,
  deposit: Deposit,
): readonly DepositEvent[] {
  const { depositId, swhid, entry } = command;
  assertExists(depositId, deposit);
  if (deposit.status === 'partial') assertIdentifiedBy(swhid, depositId, null);
  if (deposit.status !== 'done') {
    const text = `Deposit ${depositId} is ${deposit.status}: metadata can be added by its identifier only once it is done.`;
    throw new DepositRefusal('DEPOSIT_NOT_DONE', text);
  }
  assertIdentifiedBy(swhid, depositId, identifierOf(deposit));
  assertMetadataUpdate(entry.facts, command, 'loaded' in deposit ? deposit.origin : null);
  assertEntries(deposit.entries.length + (deposit.updates?.length ?? 0) + 1);
  return [{ type: 'MetadataUpdated', data: { depositId, swhid, entry } }];
}

/** @throws {DepositRefusal} the deposit has another identifier. */
export function assertIdentifiedBy(swhid: string, depositId: number, identifier: string | null): void {
  if (swhid === identifier) return;
  const text =
    identifier === null
      ? `Deposit ${depositId} has no identifier, so it is not ${swhid}.`
      : `The identifier of deposit ${depositId} is ${identifier}, not ${swhid}.`;
  throw new DepositRefusal('SWHID_MISMATCH', text);
}

/** Rules for the metadata of a client. */
type ClientRules = Pick<Command<'UpdateMetadata' | 'DepositMetadata'>, 'providerUrl' | 'domain'>;

/** @throws {DepositRefusal} the entry, which names what it describes, does not pass the checks. */
export function assertMetadataDeposit(facts: EntryFacts, client: ClientRules): void {
  assertLengths(facts);
  assertValid(facts, client.domain);
  assertProvenanceAllowed(facts, client.providerUrl);
}

/**
 * @param ownOrigin origin of the deposit; `null` if it has no software
 * @throws {DepositRefusal} the entry does not pass the checks, or describes something else.
 */
export function assertMetadataUpdate(facts: EntryFacts, client: ClientRules, ownOrigin: string | null): void {
  assertNoReference(facts);
  assertLengths(facts);
  assertOriginAllowed(facts, client.providerUrl);
  assertOwnOrigin(facts, ownOrigin);
  assertValid(facts, client.domain);
}

/** Refuses a reference in an entry: references are valid only in metadata without software. */
export function assertNoReference({ reference }: Pick<EntryFacts, 'reference'>): void {
  if (!reference) return;
  const text = `The entry is about ${reference.value}: an entry with a reference is deposited alone, as the body of a POST to the collection.`;
  throw new DepositRefusal('REFERENCE_OUT_OF_PLACE', text);
}

function assertValid(facts: EntryFacts, domain: string | null): void {
  const reasons = [...validateMetadata([{ facts }]).reasons, ...domainReasons([{ facts }], domain)];
  if (reasons.length === 0) return;
  const text = `The metadata do not pass the checks: ${reasons.map(reasonText).join('; ')}.`;
  throw new DepositRefusal('METADATA_REJECTED', text);
}

function identifierOf(deposit: Extract<Deposit, { status: 'done' }>): string | null {
  if ('loaded' in deposit) return `swh:1:dir:${deposit.loaded.directory}`;
  return deposit.target.kind === 'object' ? deposit.target.swhid : null;
}
