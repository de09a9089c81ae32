import type { Position } from '../../event-log/event-log.ts';
import type { ViewQuery } from '../view-store.ts';
import { ViewUnavailable } from '../view-unavailable.ts';
import { isDamaged } from './sqlite-errors.ts';
import { ViewFile } from './view-file.ts';

/**
 * A view as a process other than the service reads it. Reading a corrupt page throws {@link ViewUnavailable}.
 */
export class ReadonlyView implements Disposable {
  readonly #file: ViewFile;

  /** @throws when the file is missing or not a view file. */
  static open(file: string, { name }: { readonly name: string }): ReadonlyView {
    return new ReadonlyView(guarded({ name, file }, () => ViewFile.openReadOnly(file, { name })));
  }

  private constructor(file: ViewFile) {
    this.#file = file;
  }

  get position(): Position | undefined {
    return this.#file.position;
  }

  find(query: ViewQuery): unknown[] {
    return guarded(this.#file, () => this.#file.readTwice(() => this.#file.find(query)));
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    return guarded(this.#file, () => this.#file.readTwice(() => this.#file.count(query)));
  }

  counts(): ReadonlyMap<string, number> {
    return guarded(this.#file, () => this.#file.readTwice(() => this.#file.counts()));
  }

  /** Behaves like {@link ViewFile.snapshot}. */
  snapshot(): Disposable {
    return this.#file.snapshot();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

function guarded<Found>(
  { name, file }: { readonly name: string; readonly file: string },
  read: () => Found,
): Found {
  try {
    return read();
  } catch (cause) {
    if (!isDamaged(cause)) throw cause;
    throw new ViewUnavailable(
      `The view ${name} in ${file} is damaged: "npm run rebuild -- ${name}" mends it.`,
      {
        cause,
      },
    );
  }
}
