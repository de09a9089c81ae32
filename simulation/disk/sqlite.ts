/** Stands in for `node:sqlite`: the same, with the faults of the simulated disk of the process that opens a file. */
import type { StatementSync as Statement } from 'node:sqlite';
import { running } from '../world/host.ts';
import { type CallName, world } from '../world/world.ts';
import { prepareReliably, type SimulatedDisk } from './disk.ts';

const sqlite = process.getBuiltinModule('node:sqlite');

export const { StatementSync, backup, constants } = sqlite;

const CALLS = {
  'event-log': 'log commit',
  archives: 'store commit',
  views: 'view save',
} as const satisfies Record<string, CallName>;

export class DatabaseSync extends sqlite.DatabaseSync {
  readonly #disk: SimulatedDisk | undefined;
  #countChanges: Statement | undefined;
  #changesBefore = 0;

  constructor(...[file, ...options]: ConstructorParameters<typeof sqlite.DatabaseSync>) {
    const disk = running.getStore()?.host.storage;
    super(disk?.locationOf(String(file)) ?? file, ...options);
    this.#disk = disk;
    disk?.opened(this, String(file));
  }

  override prepare(sql: string): Statement {
    const statement = super.prepare(sql);
    if (this.#disk?.unsynced) failReads(statement, () => this.#disk?.assertReadsDatabase(this));
    return statement;
  }

  override exec(sql: string): void {
    if (!this.#disk) return super.exec(sql);
    const [, synchronous] = /PRAGMA synchronous = (\w+)/.exec(sql) ?? [];
    if (synchronous !== undefined) this.#disk.setSynced(this, ['2', 'FULL'].includes(synchronous));
    if (sql.startsWith('BEGIN')) this.#changesBefore = this.#changes();
    const isChange = sql === 'COMMIT' && this.#changes() > this.#changesBefore;
    if (isChange) this.#disk.assertTakesCommit(this);
    super.exec(sql);
    const part = isChange ? this.#disk.committed(this) : undefined;
    if (part) world().called(running.getStore(), CALLS[part], 'done');
  }

  /** A statement keeps its database: while the database names it, neither is ever collected. */
  override close(): void {
    this.#countChanges = undefined;
    super.close();
  }

  override [Symbol.dispose](): void {
    if (this.isOpen) this.close();
  }

  #changes(): number {
    this.#countChanges ??= prepareReliably(this, 'SELECT total_changes() AS count');
    return Number(this.#countChanges.get()?.['count']);
  }
}

/** Has a statement call `assertReads` before each of its reads. */
function failReads(statement: Statement, assertReads: () => void): void {
  for (const name of ['all', 'get', 'iterate'] as const) {
    const read = statement[name] as (...parameters: never[]) => unknown;
    const checked = (...parameters: never[]): unknown => {
      assertReads();
      return Reflect.apply(read, statement, parameters);
    };
    Object.defineProperty(statement, name, { value: checked });
  }
}
