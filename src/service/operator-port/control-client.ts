import type { Position } from '../../event-log/event-log.ts';
import { clock } from '../../tools/clock.ts';
import { errorsOfCode } from '../../tools/coded-error.ts';
import { outgoing } from '../../tools/outgoing.ts';
import { controlFile, readOperatorFile } from './control-file.ts';
import { type DirectoryId, identityOf } from './directory-id.ts';
import type { NodeState } from './node-state.ts';

/** The service that runs on the data folder refused a command, or failed to execute it. */
export class OperatorRefusal extends errorsOfCode('OPERATOR_REFUSED') {
  /** Whether the service failed, instead of refusing the command. */
  readonly isFault: boolean;

  constructor(status: number, reason: unknown) {
    super(`The running service answered: ${String(reason)}`);
    this.isFault = status >= 500;
  }
}

/** A process listens where the service of the data folder should, and does not answer in time. */
export class ServiceNotResponding extends errorsOfCode('SERVICE_SILENT') {}

/** The service has ended, or begun to end, before it answered. */
class ServiceExited extends errorsOfCode('SERVICE_GONE') {}

/** Time limits of an answer, in milliseconds: the state is available at once, but views first catch up with the log. */
const [STATE_TIMEOUT_MS, APPLIED_TIMEOUT_MS, ADOPT_TIMEOUT_MS] = [5000, 10_000, 240_000];

const ASK_LATER = 'Try it later, or remove that file when no service runs on the folder.';
const MAY_GO_ON = 'It may still execute the command; run it again later.';

/** Client of the service that runs on a data folder, for commands. */
export class ControlClient {
  readonly #url: string;
  readonly #token: string;
  /** Path of the control file of the service, for messages. */
  readonly #file: string;
  #stateWhenFound: Promise<NodeState> | undefined;

  /**
   * Resolves to a client, or to `undefined` when no service runs there.
   * @throws {ServiceNotResponding} it is unknown whether a service runs there.
   * @throws {OperatorRefusal} the service failed to report its state.
   * @throws {NotPermitted} the control file is readable only for the user of the service.
   * @throws {OperatorFileDamaged}
   */
  static async find(dataDir: string): Promise<ControlClient | undefined> {
    const control = await readOperatorFile(dataDir);
    if (!control) return undefined;
    const service = new ControlClient(control.url, control.token, controlFile(dataDir));
    const state = await service.stateWhenFound().catch((error: unknown) => {
      if (error instanceof ServiceNotResponding || (error instanceof OperatorRefusal && error.isFault))
        throw error;
      return undefined; // after a crash the file remains, and the port may belong to another process
    });
    // A copy of the folder contains the file, too, while the service runs on the original.
    return state && isSame(state.dataFolder, identityOf(dataDir)) ? service : undefined;
  }

  private constructor(url: string, token: string, file: string) {
    this.#url = url;
    this.#token = token;
    this.#file = file;
  }

  /** Resolves to the state at the time the service was found. */
  stateWhenFound(): Promise<NodeState> {
    this.#stateWhenFound ??= this.state();
    return this.#stateWhenFound;
  }

  /** Resolves to the present state. */
  state(): Promise<NodeState> {
    return this.#ask('GET', '/state', STATE_TIMEOUT_MS) as Promise<NodeState>;
  }

  /** Resolves to a link by which the person signs in to the console, once, within a minute. */
  async consoleCode(request: { readonly person: string; readonly position: string }): Promise<string> {
    const answer = await this.#ask('POST', '/console/codes', ADOPT_TIMEOUT_MS, request);
    return (answer as { readonly url: string }).url;
  }

  /** Resolves to whether the views of the service have applied the log up to a position, within five seconds. */
  async hasApplied(position: Position): Promise<boolean> {
    const answer = await this.#ask('POST', '/applied', APPLIED_TIMEOUT_MS, { position });
    return (answer as { readonly applied: boolean }).applied;
  }

  /** Makes the service use a generation of the views; resolves to the milliseconds of the switch. */
  adopt(generation: { readonly views: number }): Promise<{ readonly views: number }> {
    return this.#ask('POST', '/views', ADOPT_TIMEOUT_MS, generation) as Promise<{ readonly views: number }>;
  }

  /**
   * @throws {ServiceNotResponding}
   * @throws {ServiceExited}
   */
  async #ask(method: string, target: string, timeoutMs: number, body?: unknown): Promise<unknown> {
    const headers = { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' };
    const signal = clock.timeoutSignal(timeoutMs);
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
        throw new ServiceExited(
          `The service named in ${this.#file} ended before it answered ${this.#url}: run the command again.`,
          { cause },
        );
      }
      throw new ServiceNotResponding(
        `The service named in ${this.#file} does not answer: nothing was received from ${this.#url} for ${timeoutMs / 1000} s. ${body === undefined ? ASK_LATER : MAY_GO_ON}`,
        { cause },
      );
    }
  }
}

/** Whether the service runs on this folder. A service of a release without this field is assumed to. */
function isSame(its: DirectoryId | undefined, here: DirectoryId): boolean {
  return its === undefined || (its.device === here.device && its.inode === here.inode);
}
