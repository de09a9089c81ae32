import { assertPossible, load } from '../src/command-handler.ts';
import { clients, collections } from '../src/domain/aggregates.ts';
import type { ClientCommand } from '../src/domain/client/client.ts';
import type { EventLog } from '../src/event-log/event-log.ts';

/** As given to the command; an empty value removes what is set. */
export type Wanted = { readonly domain?: string | undefined; readonly 'provider-url'?: string | undefined };

type Setting = Extract<ClientCommand, { type: 'SetDomain' | 'SetProviderUrl' }>;

export function settings(client: string, { domain, 'provider-url': providerUrl }: Wanted): Setting[] {
  return [
    ...(domain === undefined ? [] : [{ type: 'SetDomain', client, domain: domain || null } as const]),
    ...(providerUrl === undefined
      ? []
      : [{ type: 'SetProviderUrl', client, providerUrl: providerUrl || null } as const]),
  ];
}

/**
 * So that nothing is done where not all can be: nothing is appended.
 * @throws {Refusal} of the first of the commands on the client, or of a collection for it, that would be refused.
 */
export async function assertAccepted(
  log: EventLog,
  client: string,
  commands: readonly ClientCommand[],
  granted: readonly string[] = [],
): Promise<void> {
  const grants = granted.map((collection) => ({ type: 'GrantCollection', client, collection }) as const);
  await assertPossible(log, clients, client, [...commands, ...grants]);
  for (const collection of granted) {
    const { state: present } = await load(log, collections, collection);
    if (present.status === 'unknown') {
      collections.decider.decide({ type: 'OpenCollection', collection }, present);
    }
  }
}
