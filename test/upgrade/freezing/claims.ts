import { mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { OldDouble } from './old-release.ts';
import type { Site } from './site.ts';
import { recordOf } from './upload-records.ts';

/** A request that names the upload `id` for the deposit. */
export type Naming = {
  readonly id: string;
  readonly depositId: number;
  readonly send: () => Promise<unknown>;
};

/** Has the service killed in the middle of a request that names an upload. */
export interface Claims {
  /** Kills it while the upload is claimed and nothing is recorded in the log. */
  killBeforeRecord(naming: Naming): Promise<void>;
  /** Kills it when the log has the record, and the upload is only claimed. */
  killAfterRecord(naming: Naming): Promise<void>;
}

/** Holds the write lock of the embedded log, which keeps the service from appending. */
export class EmbeddedClaims implements Claims {
  readonly #site: Site;

  constructor(site: Site) {
    this.#site = site;
  }

  async killBeforeRecord({ id, send }: Naming): Promise<void> {
    using _locked = this.#lock();
    const sent = send().catch(() => undefined); // the service does not answer
    await untilClaimed(this.#site, id);
    await this.#site.kill();
    await sent;
  }

  /** A folder at the place of the next record keeps the service from writing it. */
  async killAfterRecord({ id, send }: Naming): Promise<void> {
    const inTheWay = path.join(this.#site.uploadsFolder, `${id}.json.new`);
    let sent: Promise<unknown>;
    {
      using _locked = this.#lock();
      sent = send();
      await untilClaimed(this.#site, id);
      await mkdir(inTheWay);
    }
    await sent;
    await this.#site.kill();
    await rmdir(inTheWay);
  }

  #lock(): Disposable {
    const database = new DatabaseSync(path.join(this.#site.dataDir, 'event-log.sqlite'), { timeout: 1000 });
    database.exec('BEGIN IMMEDIATE');
    return {
      [Symbol.dispose]: () => {
        database.exec('ROLLBACK');
        database.close();
      },
    };
  }
}

/** Has the double of EventStoreDB leave appends without an answer. */
export class DistributedClaims implements Claims {
  readonly #site: Site;
  readonly #double: OldDouble;

  constructor(site: Site, double: OldDouble) {
    this.#site = site;
    this.#double = double;
  }

  async killBeforeRecord({ id, send }: Naming): Promise<void> {
    this.#double.faults.set('append', { kind: 'hang' });
    const sent = send().catch(() => undefined); // the service does not answer
    await untilClaimed(this.#site, id);
    await pause(200);
    await this.#site.kill();
    this.#double.faults.clear();
    await sent;
  }

  async killAfterRecord({ depositId, send }: Naming): Promise<void> {
    const { log, faults } = this.#double;
    const length = () => log.stream(`deposit-${depositId}`).length;
    const before = length();
    faults.set('append', { kind: 'commit and hang' });
    const sent = send().catch(() => undefined); // the service does not answer
    while (length() === before) await pause(10);
    await this.#site.kill();
    faults.clear();
    await sent;
  }
}

async function untilClaimed(site: Site, id: string): Promise<void> {
  while ((await recordOf(site, id)).state.status !== 'claimed') await pause(5);
}
