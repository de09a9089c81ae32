import { assertPossible, readState } from '../../deposits/command-handler.ts';
import { clients, collections } from '../../domain/aggregates.ts';
import type { ClientCommand } from '../../domain/client/client.ts';
import type { EventLog } from '../../event-log/event-log.ts';

/** Settings of a client as given to the command; an empty value removes a setting. */
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

/** Checks all commands before any is executed. @throws {Refusal} of the first one that would be refused. */
export async function assertAccepted(
  log: EventLog,
  client: string,
  commands: readonly ClientCommand[],
  granted: readonly string[] = [],
): Promise<void> {
  const grants = granted.map((collection) => ({ type: 'GrantCollection', client, collection }) as const);
  await assertPossible(log, clients, client, [...commands, ...grants]);
  for (const collection of granted) {
    const { state: present } = await readState(log, collections, collection);
    if (present.status === 'unknown') {
      collections.decider.decide({ type: 'OpenCollection', collection }, present);
    }
  }
}
