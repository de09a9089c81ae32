import { type DepositSearchView, searchId } from '../../../../projections/deposit-search.ts';
import { deposits as depositStreams } from '../../../domain/aggregates.ts';
import type { RecordedEvent } from '../../../event-log/event-log.ts';
import { untilClientGone } from '../../../http/requests/request-body.ts';
import { formatRange, formatSwhid, type Swhid } from '../../../swhid/swhid.ts';
import { UUID } from '../../../tools/random.ts';
import type { Viewer } from '../access/sessions.ts';
import { pageOf } from '../listing/deposit-pages.ts';
import { rowOf, selectionOf, swhidIn } from '../listing/deposit-query.ts';
import { findInside } from '../listing/objects-inside.ts';
import type { VisibleDeposits } from '../listing/visible-deposits.ts';
import { type Filter, filterIn, isFilterName } from '../protocol/deposit-list.ts';
import { MAX_FOUND, type SearchResult } from '../protocol/search-result.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route, type ViewerRequest } from '../server/route.ts';

const NEWEST = { orderBy: 'key', descending: true, limit: MAX_FOUND };
const NOTHING_MORE = { event: null, path: null, lines: null, limit: null, list: null };

type SearchParts = Pick<ConsoleParts, 'depositsOf' | 'log' | 'resolver'>;

/** Returns the route of the search box: it finds out what a text is, and the deposits that it names. */
export function searchRoutes({ depositsOf, log, resolver }: SearchParts): readonly Route[] {
  return [{ method: 'GET', path: '/console/api/search', permission: 'deposits:read', answer: search }];

  function search({ ctx, query, viewer }: ViewerRequest): Promise<SearchResult> {
    const text = (query.get('q') ?? '').trim();
    if (text === '') throw new ConsoleRefusal(400, 'NOTHING_TO_SEARCH', 'Type what to search for.');
    return untilClientGone(ctx, (signal) => resultOf(text, viewer, signal));
  }

  async function resultOf(text: string, viewer: Viewer, signal: AbortSignal): Promise<SearchResult> {
    const [lower, deposits] = [text.toLowerCase(), await depositsOf(viewer).settled()];
    if (/^[1-9]\d{0,14}$/.test(text)) {
      const found = deposits.get(text);
      return of('deposit id', found ? [found] : []);
    }
    if (UUID.test(lower)) {
      const found = withId(deposits, lower, { uuid: lower });
      return found.length > 0 ? of('UUID of a deposit', found) : withEvent(deposits, lower);
    }
    if (/^(?:[0-9a-f]{64}|[0-9a-f]{32})$/.test(lower)) return withDigest(deposits, lower);
    if (/^[0-9a-f]{40}$/.test(lower)) return of('id of an object', withObject(deposits, lower));
    if (lower.startsWith('swh:')) return withSwhid(deposits, swhidIn(text), signal);
    if (/^https?:\/\/\S+$/.test(text)) {
      const exact = filtered(deposits, 'origin', { origin: text });
      if (exact.deposits.length > 0) return exact;
    }
    if (viewer.scope === null && deposits.counts({ client: text }).size > 0)
      return filtered(deposits, 'client', { client: text });
    const filter = filterOf(text);
    return filtered(deposits, Object.keys(filter).some((name) => name !== 'q') ? 'filters' : 'text', filter);
  }

  /** Resolves to the deposits with an event of this id, or caused by the request of this id. */
  async function withEvent(deposits: VisibleDeposits, id: string): Promise<SearchResult> {
    const requested: DepositSearchView[] = [];
    for (const row of withId(deposits, id)) {
      const events = await eventsOf(row);
      const event = events.find((one) => one.id === id);
      if (event) return { ...of('event id', [row]), event: event.revision };
      if (events.some(({ metadata }) => metadata['$correlationId'] === id)) requested.push(row);
    }
    return of(requested.length > 0 ? 'correlation id' : 'UUID', requested);
  }

  /** Resolves to the deposits with an archive of this SHA-256 or MD5, also if it was replaced since. */
  async function withDigest(deposits: VisibleDeposits, digest: string): Promise<SearchResult> {
    const found: DepositSearchView[] = [];
    for (const row of withId(deposits, digest)) {
      const isCurrent = row.archives.some(({ sha256, md5 }) => sha256 === digest || md5 === digest);
      if (isCurrent || JSON.stringify((await eventsOf(row)).map(({ data }) => data)).includes(digest))
        found.push(row);
    }
    return of('digest of an archive', found);
  }

  async function withSwhid(
    deposits: VisibleDeposits,
    swhid: Swhid,
    signal: AbortSignal,
  ): Promise<SearchResult> {
    if (swhid.type !== 'cnt') {
      const whole = filtered(deposits, 'SWHID', { swhid: formatSwhid(swhid) });
      if (whole.deposits.length > 0 || swhid.type !== 'dir') return whole;
    }
    const { deposits: found, ...where } = await findInside(deposits, resolver, swhid, MAX_FOUND, signal);
    const { lines } = swhid.qualifiers;
    return { ...of('SWHID', found), ...where, lines: lines ? formatRange(lines) : null };
  }

  function eventsOf({ depositId }: DepositSearchView): Promise<RecordedEvent[]> {
    return Array.fromAsync(log.readStream(`${depositStreams.prefix}${depositId}`));
  }
}

/** Returns the deposits that may have a UUID or a digest. */
function withId(deposits: VisibleDeposits, value: string, equal = {}): readonly DepositSearchView[] {
  return deposits.find({ ...NEWEST, equal, ids: [searchId(value)] });
}

/** Returns the deposits whose directory, revision or snapshot has this id. */
function withObject(deposits: VisibleDeposits, id: string): readonly DepositSearchView[] {
  return ['directory', 'revisionId', 'snapshot'].flatMap((field) => withId(deposits, id, { [field]: id }));
}

function of(understoodAs: SearchResult['understoodAs'], found: readonly DepositSearchView[]): SearchResult {
  return { ...NOTHING_MORE, understoodAs, deposits: found.map(rowOf) };
}

function filtered(
  deposits: VisibleDeposits,
  understoodAs: SearchResult['understoodAs'],
  filter: Filter,
): SearchResult {
  const { rows, searchedTo } = pageOf(deposits, selectionOf(filter), undefined, MAX_FOUND);
  const list = new URLSearchParams(filter).toString();
  const limit = searchedTo === null ? null : 'The search took long: older deposits may match, too.';
  return { ...NOTHING_MORE, understoodAs, deposits: rows, limit, list };
}

/** Returns the filter in a text such as `actor:rosa status:failed lamp`. */
function filterOf(text: string): Filter {
  const [words, query]: [string[], URLSearchParams] = [[], new URLSearchParams()];
  for (const word of text.split(/\s+/)) {
    const [name = '', value = ''] = word.split(/:(.*)/s, 2);
    if (isFilterName(name) && name !== 'q' && value !== '') query.set(name, value);
    else words.push(word);
  }
  if (words.length > 0) query.set('q', words.join(' '));
  return filterIn(query);
}
