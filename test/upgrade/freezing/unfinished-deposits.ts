import { helloZip } from '../../../testing/http/deposit-bodies.ts';
import type { Expected } from '../expected.ts';
import type { Depositor } from './depositor.ts';
import { ReactorSteps } from './reactor-steps.ts';
import type { Site } from './site.ts';

type Clients = Record<'alice' | 'bob' | 'carol' | 'frank', Depositor>;

/** Makes deposits that wait for each step of the reactors. Needs a site without reactors. */
export async function leaveUnfinished(
  site: Site,
  { alice, bob, carol, frank }: Clients,
  { depositOf, retried }: { depositOf: (label: string) => number } & Pick<Expected, 'retried'>,
): Promise<void> {
  await alice.whole('deposited', helloZip);
  const verified = [await alice.whole('verified', helloZip), await bob.whole('notified-verified', helloZip)];
  const loading = [await alice.whole('loading', helloZip), await bob.whole('notified-loading', helloZip)];
  await bob.whole('notified-deposited', helloZip);
  await carol.whole('refused-deposited', helloZip);
  await frank.whole('disabled-deposited', helloZip);
  await ReactorSteps.on(site, async (steps) => {
    for (const id of [...verified, ...loading]) await steps.check(id);
    for (const id of loading) await steps.startLoading(id);
  });
  await site.run('client', ['disable', 'frank']);
  await site.run('retry', [String(depositOf('reload-due'))]);
  await site.run('client', ['set', 'heidi', '--domain', 'heidi.example']);
  await site.run('retry', [String(depositOf('recheck-due')), '--recheck']);
  for (const { reactor, eventId } of retried) {
    await site.run('parked', ['retry', eventId, '--reactor', reactor]);
  }
}
