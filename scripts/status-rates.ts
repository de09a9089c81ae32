import type { StatusFacts } from './status-facts.ts';

/** What `status` shows, each view and reactor with the events a second since the look before. */
export type Status = ReturnType<typeof withRates>;

/** Rates are `null` without an earlier look at the same run of a service. */
export function withRates(facts: StatusFacts, before?: StatusFacts) {
  const isSameRun = before?.service != null && before.service.startedAt === facts.service?.startedAt;
  const seconds = before ? (Date.parse(facts.at) - Date.parse(before.at)) / 1000 : 0;
  const rated = <One extends Counted>(now: readonly One[], then: readonly Counted[] = []) =>
    now.map((one) => {
      const earlier = then.find(({ name }) => name === one.name)?.done ?? null;
      const isKnown = isSameRun && seconds > 0 && one.done !== null && earlier !== null;
      return { ...one, rate: isKnown ? Math.round(((one.done - earlier) / seconds) * 10) / 10 : null };
    });
  return {
    ...facts,
    views: rated(facts.views, before?.views),
    reactors: rated([...facts.reactors], before?.reactors),
  };
}

/** Events that were done with since the start, `null` where nobody counts them. */
type Counted = { readonly name: string; readonly done: number | null };
