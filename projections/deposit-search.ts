import { deposits } from '../src/domain/aggregates.ts';
import { type Archives, noArchives } from '../src/domain/deposit/archive-list.ts';
import type { DepositEvent, EntryFacts, Reason } from '../src/domain/deposit/events.ts';
import type { Projection, Recorded } from '../src/views/projection.ts';
import { archiveChanges } from './archive-changes.ts';
import { type DepositFields, newDeposit, statusChanges, withChange, withFacts } from './deposit-fields.ts';

/** A row in the list of all deposits, and the texts by which it is found. */
export type DepositSearchView = DepositFields &
  Archives & {
    readonly slug: string | null;
    readonly title: string | null;
    readonly authors: readonly string[];
    readonly externalIdentifier: string | null;
    /** Codes of the reasons of the rejection or the failure. */
    readonly reasonCodes: readonly string[];
    /** Set once the deposit is done: 40 hex digits each. */
    readonly directory: string | null;
    readonly revisionId: string | null;
    readonly snapshot: string | null;
    readonly origin: string | null;
    /** Time and id of the last change, which order all deposits by their changes. */
    readonly changed: string;
    /** Title, slug, external identifier, origin, names of archives and authors, {@link MAX_WORDS} characters of them. */
    readonly words: string;
    /** Values that are found as a whole together with words, between spaces: `@client`, `/collection`, `!reason`. */
    readonly terms: string;
    /** Values that are found as a whole: its actors and its slug. See {@link labelOf}. */
    readonly labels: readonly string[];
    /** Identifiers, see {@link searchId}, of the deposit, its objects, archives, events and requests, between spaces. */
    readonly ids: string;
  };

const statuses = statusChanges<DepositSearchView>();

export const depositSearch: Projection<DepositSearchView, DepositEvent> = {
  name: 'deposit-search',
  version: 8,
  source: deposits,
  indexes: [
    ['depositId'],
    ['status', 'depositId'],
    ['client', 'depositId'],
    ['client', 'status', 'depositId'],
    ['collection', 'depositId'],
    ['collection', 'status', 'depositId'],
    ['origin', 'depositId'],
    ['changed'],
    ['client', 'changed'],
  ],
  countedBy: ['client', 'collection', 'status'],
  texts: ['words', 'terms'],
  labels: 'labels',
  ids: 'ids',
  complete: (view) => ({ ...view, ...textsOf(view) }),
  when: withSources({
    ...statuses,
    DepositCreated: (_, event) => {
      const { uuid, slug } = event.data;
      const later = { title: null, authors: [], externalIdentifier: null, reasonCodes: [] };
      const loaded = { directory: null, revisionId: null, snapshot: null, origin: null };
      const labels = slug === null ? [] : [labelOf('slug', slug)];
      const lookups = { changed: '', words: '', terms: '', labels, ids: withIds('', [uuid]) };
      return { ...newDeposit(event), slug, ...noArchives, ...later, ...loaded, ...lookups };
    },
    ...archiveChanges<DepositSearchView>((archive) => archive),
    MetadataAdded: (view, event) => {
      const { facts } = event.data.entry;
      return (
        view && withChange(view, event, { ...withFacts(view, facts), authors: withAuthors(view, facts) })
      );
    },
    MetadataUpdated: (view, event) =>
      view && withChange(view, event, { authors: withAuthors(view, event.data.entry.facts) }),
    MetadataReplaced: (view, event) => {
      const { title, authors, externalIdentifier } = event.data.entry.facts;
      return view && withChange(view, event, { title, authors, externalIdentifier });
    },
    DepositCompleted: (view, event) =>
      view && statuses.DepositCompleted({ ...view, origin: event.data.origin }, event),
    DepositVerified: (view, event) => view && statuses.DepositVerified(withReasons(view, []), event),
    DepositRejected: (view, event) =>
      view && statuses.DepositRejected(withReasons(view, event.data.reasons), event),
    ChecksRetried: (view, event) => view && statuses.ChecksRetried(withReasons(view, []), event),
    LoadingStarted: (view, event) => view && statuses.LoadingStarted(withReasons(view, []), event),
    LoadingFailed: (view, event) =>
      view && statuses.LoadingFailed(withReasons(view, [event.data.reason]), event),
    LoadingRetried: (view, event) => view && statuses.LoadingRetried(withReasons(view, []), event),
    CopyUnreadable: (view, event) => view && statuses.CopyUnreadable(withReasons(view, [event.data]), event),
    DepositLoaded: (view, event) => {
      const { directory, revision: revisionId, snapshot, origin } = event.data;
      if (!view) return undefined;
      const ids = withIds(view.ids, [directory, revisionId, snapshot]);
      const loaded = { ...withReasons(view, []), directory, revisionId, snapshot, origin, ids };
      return statuses.DepositLoaded(loaded, event);
    },
  }),
};

/**
 * Maximum number of authors, and of characters that are indexed. Each change of the texts of a deposit indexes all of
 * them again while no request is served, and a hundred entries can name two thousand authors.
 */
const [MAX_AUTHORS, MAX_WORDS] = [50, 10_000];

/** Hex digits of an identifier that are indexed: enough to find few deposits, which have or name the whole value. */
const HEX_DIGITS = 12;

/** Returns the id under which deposits are found that have a UUID or a digest, of which others may have the same id. */
export function searchId(value: string): string {
  const beginning = value.slice(0, HEX_DIGITS + 1); // a UUID has one hyphen among these
  return beginning.replaceAll('-', '').slice(0, HEX_DIGITS);
}

/** Returns the label by which deposits are found that have a slug, or on which a person, client or operator acted. */
export function labelOf(kind: 'actor' | 'slug', value: string): string {
  return `${kind}:${value}`;
}

type When = (typeof depositSearch)['when'];

/** Returns the handlers, which also record the ids of the event, its request and its archive, and who caused it. */
function withSources(handlers: When): When {
  const entries = Object.entries(handlers as Record<string, Handler>);
  return Object.fromEntries(
    entries.map(([type, handler]) => [
      type,
      (view: DepositSearchView | undefined, event: Handled) => {
        const after = handler(view, event);
        return after && { ...after, labels: labelsAfter(after, event), ids: idsAfter(after, event) };
      },
    ]),
  );
}

/** Any of the handlers, under the type of its events. */
type Handler = (view: DepositSearchView | undefined, event: Handled) => DepositSearchView | undefined;
type Handled = DepositEvent & Recorded;

/** Adds the label of the actor, unless it was a reactor. */
function labelsAfter({ labels }: DepositSearchView, { actor }: Handled): readonly string[] {
  if (!actor || actor.kind === 'reactor') return labels;
  const label = labelOf('actor', actor.name);
  return labels.includes(label) ? labels : [...labels, label];
}

/** Adds the ids of an event. Archives that are removed later are still found. */
function idsAfter({ ids }: DepositSearchView, { id, correlationId, data }: Handled): string {
  const { sha256, md5 } = 'archive' in data ? data.archive : {};
  return withIds(ids, [id, correlationId, sha256, md5]);
}

/** Adds those values that are not there yet. */
function withIds(ids: string, values: readonly (string | null | undefined)[]): string {
  let all = ids;
  for (const value of values) {
    const id = value && searchId(value);
    if (id && !all.includes(id)) all += `${id} `;
  }
  return all;
}

function textsOf(view: DepositSearchView): Pick<DepositSearchView, 'changed' | 'words' | 'terms'> {
  const { title, authors, archives, slug, externalIdentifier, origin, reasonCodes, client, collection } =
    view;
  const names = archives.map(({ filename }) => filename);
  const words = [title, slug, externalIdentifier, origin, ...names, ...authors]
    .filter((text) => text !== null)
    .join('\n')
    .slice(0, MAX_WORDS)
    .toWellFormed(); // a character may be cut
  const terms = [`@${client}`, `/${collection}`, ...reasonCodes.map((code) => `!${code}`)];
  const changed = `${view.updatedAt} ${String(view.depositId).padStart(15, '0')}`;
  return { changed, words, terms: ` ${terms.join(' ')} ` };
}

function withReasons(view: DepositSearchView, reasons: readonly Pick<Reason, 'code'>[]): DepositSearchView {
  return { ...view, reasonCodes: reasons.map(({ code }) => code) };
}

function withAuthors(view: DepositSearchView, { authors }: Pick<EntryFacts, 'authors'>): readonly string[] {
  return [...new Set([...view.authors, ...authors])].slice(0, MAX_AUTHORS);
}
