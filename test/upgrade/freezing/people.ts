import { PASSWORD } from './depositor.ts';
import type { Receivers } from './receivers.ts';
import type { Site } from './site.ts';

/** Clients of the frozen data, and what each is there for. */
export const CLIENTS = {
  alice: [],
  heidi: ['--domain', 'wrong.example'],
  bob: [],
  carol: [],
  dave: [],
  erin: [],
  frank: [],
} as const satisfies Record<string, readonly string[]>;

/** Clients with a webhook: one whose receiver works, and those whose receivers refuse or are silent later. */
export const NOTIFIED = ['bob', 'carol', 'dave', 'erin', 'frank'] as const;

export async function registerClients(site: Site, receivers: Receivers): Promise<void> {
  for (const [name, options] of Object.entries(CLIENTS)) {
    const args = ['add', name, '--password-stdin', '--collection', 'software', '--collection', 'drafts'];
    await site.run('client', [...args, ...options], { input: PASSWORD });
  }
  await site.run('client', ['set', 'alice', '--provider-url', 'https://alice.example/code']);
  await site.run('collection', ['set', 'software', '--title', 'Frozen software']);
  for (const name of NOTIFIED) {
    const { url, secret } = receivers.of(name);
    await site.run('client', ['webhook', name, url, '--secret-stdin'], { input: secret });
  }
}
