import { setTimeout as pause } from 'node:timers/promises';
import { type Invocation, isRead, type Operation, outcomeOf } from './operation.ts';
import type { RecordedRequests, Target } from './recorded-requests.ts';
import { type SharedDeposit, SharedDeposits } from './shared-deposits.ts';

export type ClientsOptions = {
  readonly requests: RecordedRequests;
  /** Returns the nodes that accept connections now. */
  readonly targets: () => readonly Target[];
  readonly random: () => number;
};

/** How often a request with a key is sent before its client gives up. */
const MOST_TRIES = 6;

/** Clients that work on the same deposits at the same time, each over any node. */
export class Clients {
  readonly deposits = new SharedDeposits();
  readonly #options: ClientsOptions;
  #isOver = false;
  #contents = 0;
  #keys = 0;

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Resolves after {@link stop}, when all of them have their last answers. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, (_, client) => this.#work(client)));
  }

  stop(): void {
    this.#isOver = true;
  }

  async #work(client: number): Promise<void> {
    const { random } = this.#options;
    while (!this.#isOver) {
      const deposit = this.deposits.pick(random);
      const isNew = deposit === undefined || (this.deposits.needsMore && random() < 0.3);
      const operation = await this.#carryOut(isNew ? this.#creation() : this.#invocation(deposit), client);
      if (!isRead(operation) && random() < 0.5) await this.#readElsewhere(operation);
      await pause(operation.code === 0 ? 200 : 5 + random() * 40);
    }
  }

  /** Reads what a write has left over another node than the one that answered the write. */
  async #readElsewhere({ deposit: changed, shown, node, client }: Operation): Promise<void> {
    const deposit = changed ?? shown?.deposit;
    const other = this.#options.targets().find(({ name }) => name !== node);
    if (deposit === undefined || other === undefined) return;
    this.deposits.note(await this.#options.requests.send({ kind: 'receipt', deposit }, other, client));
  }

  /** A request with a key is sent again until it is answered, at times over two nodes at once. */
  async #carryOut(invocation: Invocation, client: number): Promise<Operation> {
    const { random } = this.#options;
    const isDoubled = invocation.key !== undefined && random() < 0.3;
    const doubled = isDoubled ? this.#send(invocation, client, 1) : undefined;
    for (let tries = 1; ; tries += 1) {
      const operation = await this.#send(invocation, client, 0);
      const isAnswered = outcomeOf(operation) !== 'unknown';
      if (isAnswered || invocation.key === undefined || tries === MOST_TRIES) {
        await doubled;
        return operation;
      }
      await pause(200 + random() * 800);
    }
  }

  async #send(invocation: Invocation, client: number, turn: number): Promise<Operation> {
    const { requests, targets, random } = this.#options;
    let nodes = targets();
    for (; nodes.length === 0; nodes = targets()) await pause(20);
    const first = Math.floor(random() * nodes.length);
    const operation = await requests.send(invocation, nodes[(first + turn) % nodes.length] as Target, client);
    this.deposits.note(operation);
    return operation;
  }

  #creation(): Invocation {
    const { random } = this.#options;
    const content = random();
    const isFinal = random() < 0.1;
    const invocation = { kind: 'create', isFinal, ...(random() < 0.5 && { key: this.#key() }) } as const;
    if (content < 0.3) return { ...invocation, archive: this.#mark('a') };
    if (content < 0.6) return { ...invocation, entry: this.#mark('e') };
    return { ...invocation, archive: this.#mark('a'), entry: this.#mark('e') };
  }

  #invocation({ id: deposit, revision }: SharedDeposit): Invocation {
    const { random } = this.#options;
    const turn = random();
    if (turn < 0.25) return { kind: 'status', deposit };
    if (turn < 0.5) return { kind: 'receipt', deposit };
    const matched = random() < 0.4 ? { deposit, ifMatch: revision } : { deposit };
    if (turn < 0.93) return this.#change(turn < 0.77 ? 'add' : 'replace', matched);
    return { kind: turn < 0.975 ? 'complete' : 'delete', deposit };
  }

  #change(kind: 'add' | 'replace', matched: Pick<Invocation, 'deposit' | 'ifMatch'>): Invocation {
    const { random } = this.#options;
    const key = kind === 'add' && random() < 0.3 ? { key: this.#key() } : {};
    const content = random() < 0.5 ? { archive: this.#mark('a') } : { entry: this.#mark('e') };
    return { kind, ...matched, ...content, ...key, isFinal: random() < 0.05 };
  }

  #mark(kind: 'a' | 'e'): string {
    this.#contents += 1;
    return `${kind}${this.#contents}`;
  }

  #key(): string {
    this.#keys += 1;
    return `key-${this.#keys}`;
  }
}
