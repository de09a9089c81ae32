import { metadataStreamOf } from '../storage/stream-metadata.ts';
import type { GroupLog } from './group-log.ts';
import { positionOf, positionText } from './group-settings.ts';

/** The stream to which a group writes its checkpoint. */
export class CheckpointStream {
  readonly #log: GroupLog;
  readonly #stream: string;
  #isWriting = false;

  constructor(log: GroupLog, group: string) {
    this.#log = log;
    this.#stream = `$persistentsubscription-$all::${group}-checkpoint`;
  }

  load(): bigint | undefined {
    const last = this.#log.view.lastOf(this.#stream);
    return last && positionOf(String(JSON.parse(new TextDecoder().decode(last.data))));
  }

  /** Leaves out the position while another one is not committed. */
  write(position: bigint): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    const json = JSON.stringify(positionText(position));
    void this.#log.write(this.#stream, '$SubscriptionCheckpoint', json).then(() => (this.#isWriting = false));
  }

  delete(): void {
    const { view } = this.#log;
    if (!view.lastOf(this.#stream)) return;
    void this.#log.write(metadataStreamOf(this.#stream), '$metadata', view.metadata.deleting(this.#stream));
  }
}
