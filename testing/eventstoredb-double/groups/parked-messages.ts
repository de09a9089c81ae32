import type { StoredEvent } from '../storage/stored-events.ts';
import { metadataStreamOf } from '../storage/stream-metadata.ts';
import type { GroupLog } from './group-log.ts';

/** The events that a group has set aside, as links in a stream of their own. */
export class ParkedMessages {
  readonly #log: GroupLog;
  readonly #stream: string;

  constructor(log: GroupLog, group: string) {
    this.#log = log;
    this.#stream = `$persistentsubscription-$all::${group}-parked`;
  }

  get count(): number {
    return this.#links().length;
  }

  park({ revision, stream }: StoredEvent): Promise<void> {
    return this.#log.write(this.#stream, '$>', `${revision}@${stream}`);
  }

  /** Returns every parked event, none of which is parked from then on. */
  takeAll(): StoredEvent[] {
    const links = this.#links();
    const last = links.at(-1);
    if (last)
      void this.#log.write(metadataStreamOf(this.#stream), '$metadata', `{"$tb":${last.revision + 1}}`);
    return links.map(({ data }) => this.#resolved(data)).filter((event) => event !== undefined);
  }

  delete(): void {
    const { metadata } = this.#log.view;
    if (this.count > 0)
      void this.#log.write(metadataStreamOf(this.#stream), '$metadata', metadata.deleting(this.#stream));
  }

  #links(): StoredEvent[] {
    return this.#log.view.pageOf(this.#stream, 0, { count: Number.MAX_SAFE_INTEGER }) ?? [];
  }

  #resolved(link: Uint8Array): StoredEvent | undefined {
    const [, revision, stream = ''] = /^(\d+)@(.*)$/s.exec(new TextDecoder().decode(link)) ?? [];
    return this.#log.view.eventOf(stream, Number(revision));
  }
}
