import type { EntryObject } from '../../../projections/deposit-content.ts';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { readEntry } from '../../sword/entry/atom-entry.ts';
import { runCooperatively } from '../../sword/entry/cooperative.ts';
import { type DublinCoreTerm, dublinCoreTerms } from '../../sword/entry/dublin-core-terms.ts';
import type { XmlLimits } from '../../sword/entry/xml-tree.ts';
import { withTimeout } from '../../tools/concurrency/with-timeout.ts';
import { LruCache } from '../../tools/lru-cache.ts';
import { collect } from '../requests/request-body.ts';

/** Maximum number of entries in the cache. */
const MAX_CACHED = 512;
/** Limits of one receipt: bytes of entries that are read for it, and characters of terms that it shows. */
const MAX_BYTES = 1024 ** 2;
const MAX_CHARACTERS = 64 * 1024;
/** Time limit of a receipt for reading terms, in milliseconds. */
const READ_TIMEOUT_MS = 1000;

/** Reads the Dublin Core terms of stored entries, with a cache. */
export class DublinCoreCache {
  readonly #store: Pick<ObjectStore, 'get'>;
  readonly #limits: XmlLimits;
  readonly #cache = new LruCache<readonly DublinCoreTerm[]>(MAX_CACHED);

  /** `limits`: those under which entries are accepted. */
  constructor(store: Pick<ObjectStore, 'get'>, limits: XmlLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Resolves to the terms of all entries, each once, in order of arrival. Resolves to `undefined` while they cannot be
   * read: the rest of a receipt is correct without them.
   */
  of(entries: readonly EntryObject[]): Promise<readonly DublinCoreTerm[] | undefined> {
    return withTimeout(this.#of(entries), READ_TIMEOUT_MS);
  }

  /** Caches the terms of an entry that has just been parsed. */
  set(
    { sha256, encoding }: Pick<EntryObject, 'sha256' | 'encoding'>,
    terms: readonly DublinCoreTerm[],
  ): void {
    this.#cache.set(`${sha256} ${encoding}`, terms);
  }

  async #of(entries: readonly EntryObject[]): Promise<readonly DublinCoreTerm[] | undefined> {
    const terms = new Map<string, DublinCoreTerm>();
    let [bytes, characters] = [0, 0];
    for (const entry of entries) {
      bytes += entry.length;
      if (bytes > MAX_BYTES && entry !== entries[0]) break;
      const found = await this.#termsOf(entry).catch(() => undefined);
      if (!found) return undefined;
      for (const term of found) {
        const key = `${term.name} ${term.lang ?? ''} ${term.value}`;
        if (terms.has(key)) continue;
        characters += term.value.length;
        if (characters > MAX_CHARACTERS) return [...terms.values()];
        terms.set(key, term);
      }
    }
    return [...terms.values()];
  }

  async #termsOf(entry: EntryObject): Promise<readonly DublinCoreTerm[]> {
    const { sha256, length, encoding } = entry;
    const known = this.#cache.get(`${sha256} ${encoding}`);
    if (known) return known;
    const { body } = await this.#store.get(sha256);
    const bytes = await collect(
      body,
      length,
      () => new Error(`The entry ${sha256} is longer than recorded.`),
    );
    const terms = dublinCoreTerms(await runCooperatively(readEntry(bytes, encoding, this.#limits)));
    this.set(entry, terms);
    return terms;
  }
}
