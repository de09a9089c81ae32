import { readFile } from 'node:fs/promises';
import { operatorFile } from './operator-file.ts';

/** What the service that runs on the data folder said no to. */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal';
  readonly code = 'OPERATOR_REFUSED';
}

/** What a running service tells of itself. */
export type ServiceState = {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  readonly roles: readonly string[];
  /** Where its log and its archives are. */
  readonly engines: { readonly eventLog: string; readonly archiveStore: string };
  /** RFC 3339. */
  readonly startedAt: string;
  readonly views: readonly { readonly name: string; readonly position?: string }[];
  /** Why the views get no events at the moment. */
  readonly following: string | null;
  /** `null` on a node that notifies nobody. */
  readonly notifications: {
    readonly waiting: number;
    readonly taken: number;
    readonly failed: number;
    readonly tooOld: number;
    readonly keyProblem: string | null;
  } | null;
  readonly reactors: readonly {
    readonly name: string;
    readonly underWay: number;
    readonly done: number;
    readonly failures: number;
    readonly lastError: { readonly at: string; readonly stream: string; readonly message: string } | null;
    readonly delivery: { readonly waiting: number; readonly oldest?: string };
  }[];
};

/** The service that runs on a data folder, as commands beside it see it. */
export class RunningService {
  readonly #url: string;
  readonly #token: string;

  /** `undefined` when none runs there. */
  static async find(dataDir: string): Promise<RunningService | undefined> {
    const text = await readFile(operatorFile(dataDir), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const { url, token } = JSON.parse(text) as { url: string; token: string };
    const service = new RunningService(url, token);
    // After a crash the file is still there, and the port may be another's.
    return (await service.state().catch(() => undefined)) === undefined ? undefined : service;
  }

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  state(): Promise<ServiceState> {
    return this.#ask('GET', '/state') as Promise<ServiceState>;
  }

  /** Has the service take generations of views into use; resolves to the milliseconds each switch took. */
  adopt(generations: Readonly<Record<string, number>>): Promise<Record<string, number>> {
    return this.#ask('POST', '/views', generations) as Promise<Record<string, number>>;
  }

  async #ask(method: string, target: string, body?: unknown): Promise<unknown> {
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' };
    const answer = await fetch(new URL(target, this.#url), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const facts = (await answer.json()) as { error?: string };
    if (!answer.ok) throw new OperatorRefusal(`The running service answered: ${facts.error}`);
    return facts;
  }
}
