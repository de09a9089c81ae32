import { AdminCommands } from '../../src/deposits/admin-commands.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { EventLog } from '../../src/event-log/event-log.ts';
import type { SimulatedNode } from '../nodes/simulated-node.ts';
import { CLIENTS, type Plan, type PlannedDeposit, type PlannedStep } from '../plan/plan.ts';
import { running } from '../world/host.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import type { Answer, Failure, Success } from './answer.ts';
import { archiveOf } from './archive-bytes.ts';
import { stateOf } from './deposit-state.ts';
import { addOrReplace, annotate, complete, create, remove, removeArchives } from './requests.ts';
import type { Scene } from './scene.ts';
import { type SentPiece, sendPiece } from './upload-pieces.ts';

type Request = Pick<Answer, 'command' | 'deposit' | 'isFinal' | 'key'> & {
  readonly node: number;
  readonly send: (node: SimulatedNode) => Promise<Success | undefined>;
};

/** `gone`: the node was down, or died during the request: its outcome is unknown. */
type Outcome = Success | Failure | { readonly kind: 'gone' } | undefined;

/** Does something with the log as an operator. */
export type WithLog = <Result>(work: (log: EventLog) => Promise<Result>) => Promise<Result>;

/** Tries of a request whose outcome is unknown, and milliseconds between them at most. */
const [TRIES, PAUSE_MS] = [40, 1500];
/** Milliseconds between two looks whether a deposit has come to its end, and how many. */
const [LOOK_EVERY_MS, LOOKS] = [500, 40];

/** The clients of a history: they carry out the plan, and record what they are answered. */
export class Clients {
  readonly answers: Answer[] = [];
  /** Requests that never succeeded although they were repeated. */
  readonly unanswered: string[] = [];
  /** Pieces of uploads that were acknowledged and are not there, or are there otherwise. */
  readonly pieceFaults: string[] = [];
  readonly #scene: Scene;
  readonly #plan: Plan;
  readonly #random: SeededRandom;
  readonly #nodes: ReadonlyMap<string, SimulatedNode>;
  readonly #withLog: WithLog;
  readonly #onPieceFault = (text: string): void => void this.pieceFaults.push(text);
  #open = 0;

  /** @param nodes those that are ready, by the name of their host */
  constructor(scene: Scene, plan: Plan, nodes: ReadonlyMap<string, SimulatedNode>, withLog: WithLog) {
    this.#scene = scene;
    this.#plan = plan;
    this.#random = new SeededRandom(plan.seed, 'clients');
    this.#nodes = nodes;
    this.#withLog = withLog;
  }

  get areDone(): boolean {
    return this.#open === 0;
  }

  begin(): void {
    for (const deposit of this.#plan.deposits)
      this.#scene.later(deposit.at, () => this.#track(this.#deposit(deposit)));
  }

  async #deposit(planned: PlannedDeposit): Promise<void> {
    const nodes = planned.isTwofold ? [planned.node, planned.node + 1] : [planned.node];
    const ids = await Promise.all(nodes.map((node) => this.#create(planned, node)));
    const depositId = ids.find((id) => id !== undefined);
    if (depositId === undefined) return;
    for (const [index, step] of planned.steps.entries()) {
      await this.#pause(step.after);
      const done = this.#step(planned, depositId, step, `${planned.name}/${index + 1}`);
      if (step.isParallel) this.#track(done);
      else await done;
    }
  }

  async #create(planned: PlannedDeposit, node: number): Promise<number | undefined> {
    const { name, client, archive, isFinal, isKeyed } = planned;
    const key = isKeyed ? `key-${name}` : undefined;
    const isInPieces = planned.pieces > 0 && this.#scene.disk !== undefined;
    const upload = isInPieces ? await this.#upload(planned, node) : undefined;
    if (isInPieces && upload === undefined) return undefined;
    const creation = {
      client: clientOf(client),
      bytes: archiveOf(archive, this.#plan, name),
      isFinal,
      key,
      upload,
      onPieceFault: this.#onPieceFault,
    };
    const request = { command: 'create', deposit: name, isFinal, key } as const;
    const sent = { ...request, node, send: (to: SimulatedNode) => create(to, creation) };
    // Without a key it cannot be repeated: the deposit may be there.
    const outcome = isKeyed ? await this.#repeatedly(sent) : await this.#ask(sent);
    return outcome?.kind === 'success' ? outcome.depositId : undefined;
  }

  /** Uploads an archive in chunks. Resolves to the id of the upload when all are acknowledged. */
  async #upload(
    { name, client, archive, pieces }: PlannedDeposit,
    node: number,
  ): Promise<string | undefined> {
    const bytes = archiveOf(archive, this.#plan, name);
    const request = { command: 'upload', deposit: name, isFinal: false, key: undefined, node } as const;
    let sent: SentPiece = { id: undefined, offset: 0 };
    for (let piece = 1; piece <= pieces; piece++) {
      const end = Math.ceil((bytes.length * piece) / pieces);
      const send = async (to: SimulatedNode): Promise<Success> => {
        sent = await sendPiece(to, clientOf(client), bytes, end, sent, this.#onPieceFault);
        return { kind: 'success', depositId: 0, revision: 0, shown: undefined };
      };
      const outcome = await this.#repeatedly({ ...request, send });
      if (outcome?.kind !== 'success') return undefined;
    }
    return sent.id;
  }

  async #step(
    { name: deposit, client }: PlannedDeposit,
    depositId: number,
    { kind, node, archive }: PlannedStep,
    name: string,
  ): Promise<void> {
    const of = { client: clientOf(client), depositId };
    const request = { deposit, node, isFinal: kind === 'complete', key: undefined };
    switch (kind) {
      case 'retry':
        return this.#retry(depositId);
      case 'annotate':
        await this.#untilEnded(depositId);
        await this.#ask({ ...request, command: kind, send: (to) => annotate(to, of) });
        return;
      case 'complete':
        await this.#repeatedly({ ...request, command: kind, send: (to) => complete(to, of) });
        return;
      case 'delete':
        await this.#ask({ ...request, command: kind, send: (to) => remove(to, of) });
        return;
      case 'remove':
        await this.#ask({ ...request, command: kind, send: (to) => removeArchives(to, of) });
        return;
      case 'add':
      case 'replace': {
        const bytes = archiveOf(archive, this.#plan, name);
        await this.#ask({
          ...request,
          command: kind,
          send: (to) => addOrReplace(to, { ...of, bytes }, kind),
        });
        return;
      }
      default:
        return kind satisfies never;
    }
  }

  /** An operator has a deposit checked or loaded again that was rejected or has failed. */
  async #retry(depositId: number): Promise<void> {
    const status = await this.#untilEnded(depositId);
    if (status !== 'rejected' && status !== 'failed') return;
    const type = status === 'rejected' ? 'RetryChecks' : 'RetryLoading';
    await this.#withLog((log) =>
      new AdminCommands(log, { kind: 'operator', name: 'olivia' }).retry(depositId, { type, depositId }),
    ).catch(() => undefined); // the log may be away
  }

  /**
   * Resolves to the status of a deposit when that is one of an end, or after a time. It asks no server: a client is
   * notified, and an operator looks now and then.
   */
  async #untilEnded(depositId: number): Promise<string> {
    for (let looks = 0; ; looks++) {
      const { status } = stateOf(this.#scene.log.stream(`${deposits.prefix}${depositId}`));
      if (['done', 'rejected', 'failed', 'deleted'].includes(status) || looks === LOOKS) return status;
      await this.#pause(LOOK_EVERY_MS);
    }
  }

  /** Repeats a request until it is answered, by turns on all nodes. */
  async #repeatedly(request: Request): Promise<Outcome> {
    for (let tries = 0; tries < TRIES; tries++) {
      const outcome = await this.#ask({ ...request, node: request.node + tries });
      if (outcome?.kind === 'success') return outcome;
      if (outcome?.kind === 'failure' && outcome.name === 'Refusal') return outcome;
      await this.#pause(this.#random.between(100, PAUSE_MS));
    }
    this.unanswered.push(`${request.command} of ${request.deposit} never succeeded in ${TRIES} tries`);
    return undefined;
  }

  /** Sends a request to a node, and records the answer. */
  async #ask({ node, send, ...request }: Request): Promise<Outcome> {
    const host = this.#scene.host(node % this.#scene.httpNodes);
    const serving = this.#nodes.get(host.name);
    if (!serving?.process.isReady || !serving.process.isAlive || serving.process !== host.process) {
      await this.#pause(200); // the connection is refused
      return { kind: 'gone' };
    }
    const begunAt = this.#scene.world.now;
    const isPausedBefore = host.pausedUntil > begunAt;
    const answer = running.run(serving.process, () => send(serving).catch(failureOf));
    serving.openRequests?.add(answer);
    void answer.then(() => serving.openRequests?.delete(answer));
    const gone = serving.process.ended.then(() => ({ kind: 'gone' }) as const);
    const outcome: Outcome = await Promise.race([answer, gone]);
    if (outcome?.kind === 'success' || outcome?.kind === 'failure') {
      const endedAt = this.#scene.world.now;
      const wasPaused = isPausedBefore || host.pausedUntil > begunAt;
      if (request.command !== 'upload' || outcome.kind === 'failure')
        this.answers.push({ ...request, node: host.name, begunAt, endedAt, wasPaused, outcome });
      const text =
        outcome.kind === 'success' ? `deposit-${outcome.depositId}@${outcome.revision}` : outcome.message;
      this.#scene.world.note(
        'client',
        `${host.name} answers ${request.command} of ${request.deposit}: ${text}`,
      );
    }
    return outcome;
  }

  #track(work: Promise<void>): void {
    this.#open += 1;
    void work.finally(() => {
      this.#open -= 1;
    });
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#scene.later(ms, resolve));
  }
}

function clientOf(index: number): string {
  return CLIENTS[index] ?? CLIENTS[0];
}

function failureOf(error: unknown): Failure {
  const { name, code = '', message } = error as NodeJS.ErrnoException;
  return { kind: 'failure', name, code, message };
}
