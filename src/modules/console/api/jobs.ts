import { AdminCommands } from '../../../deposits/admin-commands.ts';
import type { EventLog } from '../../../event-log/event-log.ts';
import { depositRetries, whyNotRetried } from '../../../operations/deposits/deposit-retries.ts';
import { clock } from '../../../tools/clock.ts';
import { random } from '../../../tools/random.ts';
import type { Viewer } from '../access/sessions.ts';
import type { Act, JobView } from '../protocol/job.ts';
import { ConsoleRefusal } from '../server/route.ts';

/** Maximum numbers of jobs that run at once, and that are remembered after their end. */
const [MAX_RUNNING, MAX_ENDED] = [3, 50];
const MAX_REFUSALS = 100;

/**
 * Retries of several deposits. A job lives in the memory of this node; what it does is in the log, an event a deposit.
 * After a restart, the rest of its deposits are still in the list, to be selected again.
 */
export class Jobs implements Disposable {
  readonly #log: EventLog;
  readonly #mayAct: (person: string) => boolean;
  readonly #jobs = new Map<string, { view: JobView; readonly stop: AbortController }>();

  /** @param mayAct returns whether a person may act on deposits at this moment. */
  constructor(log: EventLog, mayAct: (person: string) => boolean) {
    this.#log = log;
    this.#mayAct = mayAct;
  }

  start(act: Act, ids: readonly number[], { kind, name }: Viewer): JobView {
    const running = [...this.#jobs.values()].filter(({ view }) => view.state === 'running');
    if (running.length >= MAX_RUNNING)
      throw new ConsoleRefusal(
        429,
        'TOO_MANY_JOBS',
        `${MAX_RUNNING} jobs are running: wait until one has ended.`,
      );
    const view: JobView = {
      id: random.uuid(),
      act,
      by: name,
      startedAt: clock.date().toISOString(),
      endedAt: null,
      state: 'running',
      total: ids.length,
      done: 0,
      refused: 0,
      refusals: [],
      problem: null,
    };
    this.#jobs.set(view.id, { view, stop: new AbortController() });
    this.#forgetOldest();
    void this.#run(view.id, ids, new AdminCommands(this.#log, { kind, name }));
    return view;
  }

  get(id: string): JobView | undefined {
    return this.#jobs.get(id)?.view;
  }

  /** Returns the newest jobs first. */
  list(): readonly JobView[] {
    return [...this.#jobs.values()].map(({ view }) => view).toReversed();
  }

  /** Stops a job before its next deposit. */
  stop(id: string): JobView | undefined {
    const job = this.#jobs.get(id);
    job?.stop.abort();
    return job?.view;
  }

  [Symbol.dispose](): void {
    for (const { stop } of this.#jobs.values()) stop.abort();
  }

  async #run(id: string, ids: readonly number[], administration: AdminCommands): Promise<void> {
    const job = this.#jobs.get(id);
    if (!job) return;
    const change = (changes: Partial<JobView>): void => {
      job.view = { ...job.view, ...changes };
    };
    try {
      const retry = await depositRetries(this.#log, administration);
      for (const depositId of ids) {
        await clock.nextTurn(); // a refusal waits for nothing: other requests would wait for the whole job
        if (!this.#mayAct(job.view.by)) job.stop.abort(); // disabled, or of another role by now
        if (job.stop.signal.aborted) break;
        try {
          await retry(depositId, job.view.act);
          change({ done: job.view.done + 1 });
        } catch (error) {
          const { message } = whyNotRetried(depositId, error);
          const refusals = [...job.view.refusals, { depositId, message }].slice(0, MAX_REFUSALS);
          change({ refused: job.view.refused + 1, refusals });
        }
      }
      change({ state: job.stop.signal.aborted ? 'stopped' : 'done' });
    } catch (error) {
      change({ state: 'failed', problem: (error as Error).message }); // of the log: its events say how far it came
    }
    change({ endedAt: clock.date().toISOString() });
  }

  #forgetOldest(): void {
    const ended = [...this.#jobs].filter(([, { view }]) => view.state !== 'running');
    for (const [id] of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) this.#jobs.delete(id);
  }
}
