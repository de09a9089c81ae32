import type { EntryObject } from '../../../projections/deposit-content.ts';
import type { ArchiveStore } from '../../archive-store/archive-store.ts';
import { inTime } from '../../in-time.ts';
import { RecentlyUsed } from '../../recently-used.ts';
import { readEntry } from '../../sword/entry/atom-entry.ts';
import { type DublinCoreTerm, dublinCoreTerms } from '../../sword/entry/dublin-core-terms.ts';
import { inTurns } from '../../sword/entry/steps.ts';
import type { XmlLimits } from '../../sword/entry/xml-tree.ts';
import { collect } from '../receiving/request-body.ts';

/** Entries whose terms are remembered. */
const MAX_REMEMBERED = 512;
/** Of one receipt: bytes of entries that are read for it, and characters of terms that it tells. */
const MAX_BYTES = 1024 ** 2;
const MAX_CHARACTERS = 64 * 1024;
/** How long a receipt waits for them, in milliseconds. */
const PATIENCE = 1000;

/** Gives back what the entries of a deposit say in Dublin Core terms, read from where they are kept verbatim. */
export class EntryTerms {
  readonly #store: Pick<ArchiveStore, 'get'>;
  readonly #limits: XmlLimits;
  readonly #remembered = new RecentlyUsed<readonly DublinCoreTerm[]>(MAX_REMEMBERED);

  /** `limits`: those under which entries are taken. */
  constructor(store: Pick<ArchiveStore, 'get'>, limits: XmlLimits) {
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Those of all entries together, each once, in the order in which they came. `undefined` while they cannot be
   * read: what a receipt tells otherwise is true without them.
   */
  of(entries: readonly EntryObject[]): Promise<readonly DublinCoreTerm[] | undefined> {
    return inTime(this.#of(entries), PATIENCE);
  }

  /** Those of an entry that has just been read. */
  remember(
    { sha256, encoding }: Pick<EntryObject, 'sha256' | 'encoding'>,
    terms: readonly DublinCoreTerm[],
  ): void {
    this.#remembered.set(`${sha256} ${encoding}`, terms);
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
        characters += term.value.length;
        if (characters > MAX_CHARACTERS) return [...terms.values()];
        terms.set(`${term.name} ${term.value}`, term);
      }
    }
    return [...terms.values()];
  }

  async #termsOf(entry: EntryObject): Promise<readonly DublinCoreTerm[]> {
    const { sha256, length, encoding } = entry;
    const known = this.#remembered.get(`${sha256} ${encoding}`);
    if (known) return known;
    const terms = await this.#read(sha256, length, encoding);
    this.remember(entry, terms);
    return terms;
  }

  async #read(sha256: string, length: number, charset: string): Promise<readonly DublinCoreTerm[]> {
    const { body } = await this.#store.get(sha256);
    const bytes = await collect(
      body,
      length,
      () => new Error(`The entry ${sha256} is longer than recorded.`),
    );
    return dublinCoreTerms(await inTurns(readEntry(bytes, { charset, limits: this.#limits })));
  }
}
