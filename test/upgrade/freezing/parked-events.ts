import { helloZip } from '../../../testing/http/deposit-bodies.ts';
import type { ParkedEvent } from '../expected.ts';
import type { Depositor } from './depositor.ts';
import type { OldEvent } from './old-release.ts';
import { ReactorSteps } from './reactor-steps.ts';
import type { Site } from './site.ts';

export type Decided = { readonly skipped: readonly ParkedEvent[]; readonly retried: readonly ParkedEvent[] };

/** Parks events for each reactor, skips some of them, and has loads fail. Needs a site without reactors. */
export async function parkEvents(site: Site, alice: Depositor, bob: Depositor): Promise<Decided> {
  const deposit = (label: string) => alice.whole(label, helloZip);
  const forChecker = [
    await deposit('parked-checker'),
    await deposit('retried-checker'),
    await deposit('skipped-checker'),
  ];
  const forLoader = [await deposit('parked-loader'), await deposit('skipped-loader')];
  const failing = [await deposit('failed'), await deposit('reloaded'), await deposit('reload-due')];
  const forNotifier = await bob.whole('parked-notifier', helloZip);
  const parked = new Map<number, ParkedEvent>();
  await ReactorSteps.on(site, async (steps) => {
    const park = async (reactor: string, id: number, type: string) =>
      void parked.set(id, parkedEvent(reactor, id, await steps.park(reactor, id, type)));
    for (const id of forChecker) await park('checker', id, 'DepositCompleted');
    for (const id of [...forLoader, ...failing]) await steps.check(id);
    for (const id of forLoader) await park('loader', id, 'DepositVerified');
    for (const id of failing) await steps.failLoading(id);
    await park('notifier', forNotifier, 'DepositCompleted');
  });
  const ofDeposits = (...ids: (number | undefined)[]) => ids.flatMap((id) => parked.get(id ?? 0) ?? []);
  const skipped = ofDeposits(forChecker[2], forLoader[1]);
  for (const { reactor, eventId } of skipped) {
    await site.run('parked', ['skip', eventId, '--reactor', reactor, '--reason', 'frozen as skipped']);
  }
  return { skipped, retried: ofDeposits(forChecker[1]) };
}

function parkedEvent(reactor: string, depositId: number, { id, revision }: OldEvent): ParkedEvent {
  return { reactor, eventId: id, stream: `deposit-${depositId}`, revision };
}
