import { ConsumerGroup } from './consumer-group.ts';
import type { GroupLog, GroupOptions } from './group-log.ts';
import { fromEntry, type GroupEntry, type GroupSettings, toEntry } from './group-settings.ts';

const CONFIG_STREAM = '$persistentSubscriptionConfig';
const TICK_MS = 1000;
const PAGE = 500;

/** The groups of the node that leads, as it loads them: from their configuration and their checkpoints in the log. */
export class ConsumerGroups {
  readonly #log: GroupLog;
  readonly #options: GroupOptions;
  readonly #groups = new Map<string, ConsumerGroup>();
  #ticking: NodeJS.Timeout | undefined;
  #next = 0n;
  #isNotifying = false;
  #saved: Promise<void> = Promise.resolve();

  constructor(log: GroupLog, options: GroupOptions = {}) {
    this.#log = log;
    this.#options = options;
    this.#load();
  }

  get(name: string): ConsumerGroup | undefined {
    return this.#groups.get(name);
  }

  list(): ConsumerGroup[] {
    return [...this.#groups.values()];
  }

  /** Resolves when the configuration is committed, as it is now. */
  get saved(): Promise<void> {
    return this.#saved;
  }

  create(name: string, settings: GroupSettings): void {
    this.#begin(name, settings);
    this.#save();
  }

  /** The group goes on from its checkpoint with these settings, and with the filter that it had. */
  update(name: string, settings: GroupSettings): void {
    const group = this.#groups.get(name);
    group?.stop();
    this.#begin(name, { ...settings, filter: group?.settings.filter });
    this.#save();
  }

  delete(name: string): void {
    this.#groups.get(name)?.delete();
    this.#groups.delete(name);
    this.#save();
  }

  /** Must be called after every append that is committed on this node. */
  notify(): void {
    if (this.#isNotifying || !this.#ticking) return;
    this.#isNotifying = true; // a group that writes its checkpoint meanwhile appends
    try {
      while (this.#groups.size > 0 && this.#notifyPage());
    } finally {
      this.#isNotifying = false;
    }
  }

  /** Loads every group from its checkpoint, as a restart of the server does. */
  restart(): void {
    this.stop();
    this.#groups.clear();
    this.#load();
  }

  /** Looks at nothing, as a process that is stopped, until it is resumed. */
  pause(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  resume(): void {
    this.#ticking ??= setInterval(() => this.#tick(), this.#options.tickMs ?? TICK_MS).unref();
    this.notify();
  }

  /** Drops all consumers. The groups can still be looked at. */
  stop(): void {
    this.pause();
    for (const group of this.#groups.values()) group.stop();
  }

  #load(): void {
    const config = this.#log.view.lastOf(CONFIG_STREAM);
    const { entries } = config
      ? (JSON.parse(new TextDecoder().decode(config.data)) as { readonly entries: readonly GroupEntry[] })
      : { entries: [] };
    for (const [name, settings] of entries.map(fromEntry)) this.#begin(name, settings);
    this.resume();
  }

  #begin(name: string, settings: GroupSettings): void {
    this.notify(); // what was committed before is read, not notified
    if (this.#groups.size === 0) this.#next = this.#log.view.end;
    this.#groups.set(name, new ConsumerGroup(name, settings, this.#log, this.#options));
  }

  /** Returns whether there was anything. */
  #notifyPage(): boolean {
    const page = this.#log.view.page(this.#next, { count: PAGE });
    for (const event of page) {
      this.#next = event.position + 1n;
      for (const group of this.#groups.values()) group.notify(event);
    }
    return page.length > 0;
  }

  #tick(): void {
    for (const group of this.#groups.values()) group.tick();
  }

  #save(): void {
    const entries = this.list().map(({ name, settings }) => toEntry(name, settings));
    const config = { version: '2', updated: new Date().toISOString(), updatedBy: 'admin', entries };
    this.#saved = this.#log.write(CONFIG_STREAM, '$PersistentConfig', JSON.stringify(config));
  }
}
