import { formatStoreId, parseStoreId, STORE_ID } from '../store-id.ts';
import type { MinioBucket } from './bucket.ts';
import { type IncomingKeys, putBytes } from './incoming-keys.ts';

/** The id of a store, in an object next to `v1/`. A proposed id is the name of a key below `incoming/`. */
export class S3StoreId {
  readonly #bucket: MinioBucket;
  readonly #incoming: IncomingKeys;
  #proposed: string | undefined;

  constructor(bucket: MinioBucket, incoming: IncomingKeys) {
    this.#bucket = bucket;
    this.#incoming = incoming;
  }

  async read(): Promise<string | undefined> {
    const opened = await this.#bucket.open(this.#key);
    if (opened === undefined) return undefined;
    const text = Buffer.concat(await Array.fromAsync(opened.bytes)).toString();
    return parseStoreId(text, `${this.#key} in the bucket ${this.#bucket.name}`);
  }

  async write(id: string): Promise<void> {
    await putBytes(this.#bucket, this.#key, Buffer.from(formatStoreId(id)));
    if (this.#proposed !== undefined) await this.#incoming.remove(this.#proposed, { id: undefined });
    this.#proposed = undefined;
  }

  async propose(id: string): Promise<void> {
    this.#proposed = this.#incoming.keyOf(id);
    await putBytes(this.#bucket, this.#proposed, Buffer.alloc(0));
  }

  async isProposed(id: string): Promise<boolean> {
    return (await this.#bucket.stat(this.#incoming.keyOf(id))) !== undefined;
  }

  get #key(): string {
    return `${this.#bucket.prefix}${STORE_ID}`;
  }
}
