import { clock } from '../tools/clock.ts';
import { outgoing } from '../tools/outgoing.ts';
import { type FolderIdentity, identityOf } from './folder-identity.ts';
import { operatorFile, readOperatorFile } from './operator-file.ts';

/** What the service that runs on the data folder said no to. */
export class OperatorRefusal extends Error {
  override readonly name = 'OperatorRefusal';
  readonly code = 'OPERATOR_REFUSED';
  /** Whether it was not refused, but could not be done. */
  readonly isFault: boolean;

  constructor(status: number, reason: unknown) {
    super(`The running service answered: ${String(reason)}`);
    this.isFault = status >= 500;
  }
}

/** Something listens where the service of the data folder should, and does not answer in time. */
export class ServiceSilent extends Error {
  override readonly name = 'ServiceSilent';
  readonly code = 'SERVICE_SILENT';
}

/** It has ended, or begun to, while it was asked. */
export class ServiceGone extends Error {
  override readonly name = 'ServiceGone';
  readonly code = 'SERVICE_GONE';
}

/** How long an answer may take, in milliseconds: a state is at hand, views are brought up to the log first. */
const [STATE, VIEWS] = [5000, 240_000];

const ASK_LATER = 'Try it later, or remove that file when no service runs on the folder.';
const MAY_GO_ON = 'It may go on with what it was told all the same; run the command again later.';

/** What a running service tells of itself. */
export type ServiceState = {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  readonly roles: readonly string[];
  /** Where its log and its archives are. */
  readonly engines: { readonly eventLog: string; readonly archiveStore: string };
  /** Older releases do not tell it. */
  readonly dataFolder?: FolderIdentity;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly views: readonly {
    readonly name: string;
    readonly position?: string;
    /** Events that it was shown since the start. */
    readonly events: number;
  }[];
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
  /** `null` on a node that does not check and load; absent in older releases. */
  readonly sweep?: {
    /** Pieces of work that were begun without a delivery, since the start. */
    readonly begun: number;
    /** Deposits whose notifications have no recorded outcome and are too old to be sent. */
    readonly unrecorded: { readonly count: number; readonly depositIds: readonly number[] };
  } | null;
  readonly reactors: readonly {
    readonly name: string;
    readonly underWay: number;
    readonly done: number;
    readonly failures: number;
    readonly lastError: { readonly at: string; readonly stream: string; readonly message: string } | null;
    /** `null` while the log does not tell it. */
    readonly delivery: {
      readonly position?: string;
      readonly waiting: number;
      readonly oldest?: string;
    } | null;
  }[];
};

/** The service that runs on a data folder, as commands beside it see it. */
export class RunningService {
  readonly #url: string;
  readonly #token: string;
  /** That tells of it. */
  readonly #file: string;
  #told: Promise<ServiceState> | undefined;

  /**
   * `undefined` when none runs there.
   * @throws {ServiceSilent} one may run there, or not.
   * @throws {OperatorRefusal} it cannot tell of itself.
   * @throws {NotPermitted} where it is to be met is for its user only.
   * @throws {OperatorFileDamaged}
   */
  static async find(dataDir: string): Promise<RunningService | undefined> {
    const told = await readOperatorFile(dataDir);
    if (!told) return undefined;
    const service = new RunningService(told.url, told.token, operatorFile(dataDir));
    const state = await service.told().catch((error: unknown) => {
      if (error instanceof ServiceSilent || (error instanceof OperatorRefusal && error.isFault)) throw error;
      return undefined; // after a crash the file is still there, and the port may be another's
    });
    // So it is in a copy of the folder, whose original is served on.
    return state && isSame(state.dataFolder, identityOf(dataDir)) ? service : undefined;
  }

  private constructor(url: string, token: string, file: string) {
    this.#url = url;
    this.#token = token;
    this.#file = file;
  }

  /** As of when it was found. */
  told(): Promise<ServiceState> {
    this.#told ??= this.state();
    return this.#told;
  }

  /** As of now. */
  state(): Promise<ServiceState> {
    return this.#ask('GET', '/state', STATE) as Promise<ServiceState>;
  }

  /** Has the service take generations of views into use; resolves to the milliseconds each switch took. */
  adopt(generations: Readonly<Record<string, number>>): Promise<Record<string, number>> {
    return this.#ask('POST', '/views', VIEWS, generations) as Promise<Record<string, number>>;
  }

  /**
   * @throws {ServiceSilent}
   * @throws {ServiceGone}
   */
  async #ask(method: string, target: string, patience: number, body?: unknown): Promise<unknown> {
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' };
    const signal = clock.timeoutSignal(patience);
    try {
      const answer = await outgoing.fetch(new URL(target, this.#url), {
        method,
        headers,
        signal,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const facts = (await answer.json()) as { error?: string };
      if (!answer.ok) throw new OperatorRefusal(answer.status, facts.error);
      return facts;
    } catch (cause) {
      if (cause instanceof OperatorRefusal) throw cause;
      if (!signal.aborted) {
        throw new ServiceGone(
          `The service that ${this.#file} tells of has ended before it answered ${this.#url}: run the command again.`,
          { cause },
        );
      }
      throw new ServiceSilent(
        `The service that ${this.#file} tells of does not answer: nothing has come from ${this.#url} for ${patience / 1000} s. ${body === undefined ? ASK_LATER : MAY_GO_ON}`,
        { cause },
      );
    }
  }
}

/** A service of a release that does not tell is taken for the folder's. */
function isSame(its: FolderIdentity | undefined, here: FolderIdentity): boolean {
  return its === undefined || (its.device === here.device && its.inode === here.inode);
}
