import type { Position } from '../event-log/event-log.ts';
import { isDamaged } from './sqlite-fault.ts';
import { ViewFile } from './view-file.ts';
import type { ViewQuery } from './view-store.ts';
import { ViewUnavailable } from './view-unavailable.ts';

/** A view as somebody beside the service looks at it. Whatever meets damage throws {@link ViewUnavailable}. */
export class LookedAtView implements Disposable {
  readonly #file: ViewFile;

  /** @throws when it is missing or no such file. */
  static open(file: string, { name }: { readonly name: string }): LookedAtView {
    return new LookedAtView(told({ name, file }, () => ViewFile.openReadOnly(file, { name })));
  }

  private constructor(file: ViewFile) {
    this.#file = file;
  }

  get position(): Position | undefined {
    return this.#file.position;
  }

  find(query: ViewQuery): unknown[] {
    return told(this.#file, () => this.#file.find(query));
  }

  count(query: Omit<ViewQuery, 'limit'>): number {
    return told(this.#file, () => this.#file.count(query));
  }

  counts(): ReadonlyMap<string, number> {
    return told(this.#file, () => this.#file.counts());
  }

  /** As {@link ViewFile.snapshot}. */
  snapshot(): Disposable {
    return this.#file.snapshot();
  }

  [Symbol.dispose](): void {
    this.#file[Symbol.dispose]();
  }
}

function told<Found>(
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
