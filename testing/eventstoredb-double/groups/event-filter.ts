import { isHiddenFromAll, type StoredEvent } from '../storage/stored-events.ts';

/** A regular expression, or prefixes of which one has to fit. */
type FilterExpression = { readonly regex: string; readonly prefixes: readonly string[] };

/** A filter by the names of streams or by the types of events. */
export type FilterSettings = { readonly of: 'streams' | 'types' } & FilterExpression;

export type Accepts = (event: StoredEvent) => boolean;

/** The filters of the wire, which are alike for reads, subscriptions and groups. */
type WireFilter = {
  getStreamIdentifier(): WireExpression | undefined;
  getEventType(): WireExpression | undefined;
};
type WireExpression = { getRegex(): string; getPrefixList(): string[] };

/** Returns the filter of a request, or undefined where it has no filter. */
export function filterOf(filter: WireFilter | undefined): FilterSettings | undefined {
  const [streams, types] = [filter?.getStreamIdentifier(), filter?.getEventType()];
  if (streams) return { of: 'streams', ...expressionOf(streams) };
  return types && { of: 'types', ...expressionOf(types) };
}

/** Returns what decides about events. What `$all` leaves out, no filter accepts. */
export function acceptor(filter: FilterSettings | undefined): Accepts {
  if (!filter) return ({ stream }) => !isHiddenFromAll(stream);
  const { prefixes, of } = filter;
  const regex = new RegExp(filter.regex);
  const fits = (text: string) =>
    prefixes.length > 0 ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text);
  return ({ stream, type }) => fits(of === 'streams' ? stream : type) && !isHiddenFromAll(stream);
}

function expressionOf(expression: WireExpression): FilterExpression {
  return { regex: expression.getRegex(), prefixes: expression.getPrefixList() };
}
