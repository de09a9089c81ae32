import { EventEmitter } from 'node:events';
import type http from 'node:http';
import { Readable } from 'node:stream';
import type { OutgoingRequests } from '../../src/tools/outside-world.ts';
import { currentSite, type Site } from '../current-site.ts';
import type { Incarnation } from '../world/host.ts';
import { after, type SimulatedTimer } from '../world/simulated-timers.ts';
import { type CallName, world } from '../world/world.ts';
import type { NetworkAnswer, NetworkOutcome } from './network-server.ts';

type Options = {
  readonly method?: string;
  readonly host?: string;
  readonly hostname?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, unknown>> | readonly string[];
  readonly agent?: Agent | false;
  readonly signal?: AbortSignal;
};

class Agent {
  readonly requests = new Set<SimulatedRequest>();

  destroy(): void {
    for (const request of this.requests) request.destroy(networkError('ECONNRESET'));
  }
}

/** Returns what the service sends requests with, to the servers of the simulation. */
export function simulatedRequests(process: Incarnation): OutgoingRequests {
  return {
    agent: () => new Agent() as unknown as http.Agent,
    request: (options) => new SimulatedRequest(process, options as Options) as unknown as http.ClientRequest,
    fetch: () => Promise.reject(new Error('The simulation has no fetch.')),
  };
}

/** The part of `http.ClientRequest` that the service uses. */
class SimulatedRequest extends EventEmitter {
  readonly reusedSocket = false;
  readonly #process: Incarnation;
  readonly #site: Site = currentSite();
  readonly #options: Options;
  readonly #agent: Agent | undefined;
  #idle: { readonly ms: number; readonly onTimeout: () => void } | undefined;
  #timer: SimulatedTimer | undefined;
  #isOver = false;

  constructor(process: Incarnation, options: Options) {
    super();
    this.#process = process;
    const { agent, signal } = options;
    this.#options = options;
    this.#agent = agent || undefined;
    this.#agent?.requests.add(this);
    const abort = (): void => {
      this.destroy(abortError(signal));
    };
    signal?.addEventListener('abort', abort, { once: true });
    this.once('close', () => signal?.removeEventListener('abort', abort));
  }

  setTimeout(ms: number, onTimeout: () => void = () => undefined): this {
    this.#timer?.close();
    this.#idle = ms === 0 ? undefined : { ms, onTimeout };
    return this;
  }

  end(body: Buffer | string = ''): this {
    const { method = 'GET', path = '/', hostname = '', host = hostname, headers = {} } = this.#options;
    const server = this.#site.servers.get(host);
    if (!server) throw new Error(`No server of the simulation is called ${host}.`);
    const call = server.callOf({ method, path });
    if (call) world().called(this.#process, call, 'sent');
    if (this.#idle) this.#timer = after(this.#process, this.#idle.ms, this.#idle.onTimeout);
    const request = {
      process: this.#process,
      method,
      path,
      headers: textsOf(headers),
      body: Buffer.from(body),
    };
    this.#after(undefined, () => {
      if (this.#isOver || this.#process.isGone) return;
      const outcome = this.#site.isLost(this.#process)
        ? ({ kind: 'error', code: 'ECONNRESET' } as const)
        : server.handle(request);
      if (outcome.kind === 'answer' && call) world().called(this.#process, call, 'done');
      this.#settle(outcome, call);
    });
    return this;
  }

  destroy(error?: Error): this {
    if (this.#isOver) return this;
    this.#finish();
    process.nextTick(() => {
      if (error) this.emit('error', error);
      this.emit('close');
    });
    return this;
  }

  #settle(outcome: NetworkOutcome, call: CallName | undefined): void {
    if (outcome.kind === 'silence') return;
    const isLost = this.#site.isLost(this.#process);
    if (outcome.kind === 'error' || isLost) {
      const code = outcome.kind === 'error' ? outcome.code : 'ECONNRESET';
      this.#after(this.#process, () => this.destroy(networkError(code)));
      return;
    }
    this.#after(
      this.#process,
      () => {
        if (this.#isOver) return;
        if (call) world().called(this.#process, call, 'answered');
        this.#respond(outcome.answer);
      },
      outcome.delay,
    );
  }

  #respond({ status, headers, body }: NetworkAnswer): void {
    this.#timer?.close();
    const response = Object.assign(new Readable({ read: () => undefined }), { statusCode: status, headers });
    if (body.length > 0) response.push(body);
    response.push(null);
    response.once('close', () => {
      if (this.#isOver) return;
      this.#finish();
      this.emit('close');
    });
    this.emit('response', response);
  }

  #finish(): void {
    this.#isOver = true;
    this.#timer?.close();
    this.#agent?.requests.delete(this);
  }

  #after(incarnation: Incarnation | undefined, work: () => void, delay = 0): void {
    const { networkRandom } = world();
    const latency =
      networkRandom.between(0.2, 2) + (networkRandom.chance(0.03) ? networkRandom.next() * 60 : 0);
    world().schedule(delay + latency, incarnation, work);
  }
}

/** Returns headers by their names; Node also accepts a list in which each name precedes its value. */
function textsOf(headers: NonNullable<Options['headers']>): Record<string, string> {
  const list: readonly unknown[] = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  const texts: Record<string, string> = {};
  for (let index = 0; index < list.length; index += 2)
    texts[String(list[index]).toLowerCase()] = String(list[index + 1]);
  return texts;
}

function networkError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect' });
}

function abortError(signal: AbortSignal | undefined): Error {
  const error = new Error('The operation was aborted', { cause: signal?.reason });
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' });
}
