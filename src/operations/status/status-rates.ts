import type { StatusFacts } from './status-facts.ts';

/** The facts that `status` shows, with events per second for each view and reactor. */
export type Status = ReturnType<typeof withRates>;

/** Adds the rates, which are `null` without earlier facts of the same run of a service. */
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

/** Number of events completed since the start; `null` if it is not counted. */
type Counted = { readonly name: string; readonly done: number | null };
