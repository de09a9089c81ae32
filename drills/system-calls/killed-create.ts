import { hash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { readConfig } from '../../src/config/read-config.ts';
import { openLog } from '../../src/service/backends/open-log.ts';
import { archivePart, entryPart, final, formOf, formType } from '../../testing/http/deposit-bodies.ts';
import type { TestClient } from '../../testing/http/test-client.ts';
import { newTar } from '../clients/answered-deposits.ts';
import type { ServiceProcess } from '../service/service-process.ts';

const WHOLE = ['DepositCreated', 'ArchiveAdded', 'MetadataAdded', 'DepositCompleted'];

/** One create with an Idempotency-Key, sent to a service that crashes meanwhile and repeated afterwards. */
export class KilledCreate {
  readonly #body: Uint8Array<ArrayBuffer>;
  readonly #archive: string;
  readonly #key = randomUUID();
  /** The deposit of the answer, if there was one. */
  #id: string | undefined;

  constructor(bytes: number) {
    const archive = newTar(bytes);
    this.#archive = hash('sha256', archive);
    this.#body = new Uint8Array(formOf([archivePart(archive, 'a.tar', 'application/x-tar'), entryPart()]));
  }

  get isAcknowledged(): boolean {
    return this.#id !== undefined;
  }

  /** Resolves when the deposit is settled, or when the service has ended. */
  async send(client: TestClient, service: ServiceProcess): Promise<void> {
    const answer = await this.#post(client).catch(() => undefined);
    if (answer === undefined) return void (await service.ended());
    if (answer.status !== 201) throw new Error(`A create was answered ${answer.status}: ${answer.body}`);
    this.#id = answer.id;
    while (!service.hasEnded && !(await isDone(client, answer.id).catch(() => false))) await pause(10);
  }

  /** Resolves to how much of it is in the log of the killed service. */
  async left(dataDir: string): Promise<'all' | 'nothing' | 'a part'> {
    const streams = await this.#streams(dataDir);
    if (streams.length === 0) return 'nothing';
    return WHOLE.every((type) => streams[0]?.includes(type)) ? 'all' : 'a part';
  }

  /** Repeats it; resolves to what is wrong then, a sentence each. */
  async repeat(client: TestClient, dataDir: string): Promise<string[]> {
    const { status, body, id } = await this.#post(client);
    if (status !== 201) return [`Its repetition was answered ${status}: ${body}`];
    const broken = [];
    if (this.#id !== undefined && this.#id !== id)
      broken.push(`It was answered with the deposit ${this.#id}, its repetition with ${id}.`);
    const streams = await this.#streams(dataDir);
    if (streams.length !== 1) broken.push(`It made ${streams.length} deposits.`);
    const media = await client.get(`/1/drill/${id}/media/`);
    if (hash('sha256', new Uint8Array(await media.arrayBuffer())) !== this.#archive)
      broken.push(`The deposit ${id} does not have the archive that was sent.`);
    return broken;
  }

  async #post(client: TestClient): Promise<{ status: number; body: string; id: string }> {
    const headers = { ...formType, ...final, 'Idempotency-Key': this.#key };
    const answer = await client.post('/1/drill/', this.#body, headers);
    const body = await answer.text();
    return { status: answer.status, body, id: /<deposit_id>(\d+)</.exec(body)?.[1] ?? '' };
  }

  /** Resolves to the event types of each deposit that has its archive. */
  async #streams(dataDir: string): Promise<string[][]> {
    const streams = new Map<string, { types: string[]; isIts: boolean }>();
    await using log = await openLog(readConfig({ DEPOSIT_DATA_DIR: dataDir }), { readOnly: true });
    for await (const { stream, type, data } of log.readAll({ streamPrefixes: ['deposit-'] })) {
      const known = streams.get(stream) ?? { types: [], isIts: false };
      streams.set(stream, known);
      known.types.push(type);
      const { sha256 } = (data['archive'] ?? {}) as { sha256?: string };
      if (sha256 === this.#archive) known.isIts = true;
    }
    return [...streams.values()].filter(({ isIts }) => isIts).map(({ types }) => types);
  }
}

async function isDone(client: TestClient, id: string): Promise<boolean> {
  const answer = await client.get(`/1/drill/${id}/status/`);
  return (await answer.text()).includes('<deposit_status>done<');
}
