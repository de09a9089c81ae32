import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { printProgress } from '../frame/drill.ts';
import type { FailingIo, WatchedIo } from './io-control.ts';
import type { Subject } from './io-subjects.ts';

export type Failure = Omit<FailingIo, 'folder' | 'nth'>;

/** Which calls fail. */
export type Choice = {
  readonly kind: string | undefined;
  /** The first and the last n. */
  readonly range: readonly [number, number];
  readonly samples: number;
  readonly random: () => number;
};

type Counted = { readonly failure: Failure; readonly calls: number };

/** Runs one subject after the other, again and again, each time with one call that fails. */
export class FailingIoRun {
  readonly broken: string[] = [];
  /** The present attempt, for messages. */
  at = 'at the beginning';
  failed = 0;
  calls = 0;
  /** Runs that a failed call ended with a refusal. */
  givenUp = 0;
  readonly #scratch: string;
  readonly #io: WatchedIo;
  #subject: Subject | undefined;

  constructor(scratch: string, io: WatchedIo) {
    this.#scratch = scratch;
    this.#io = io;
  }

  get #base(): string {
    return path.join(this.#scratch, 'base');
  }

  async prepare(subject: Subject): Promise<void> {
    this.#subject = subject;
    await rm(this.#base, { recursive: true, force: true });
    await mkdir(this.#base);
    await subject.prepare(this.#base);
  }

  async failEach(failures: readonly Failure[], { range, samples, random }: Choice): Promise<void> {
    await this.#fail(failures[0] as Failure, 0);
    const counted = failures.map((failure) => ({ failure, calls: this.#io.count(failure.kind) }));
    this.calls += counted.reduce((sum, { calls }) => sum + calls, 0);
    if (samples > 0) await this.#failSome(counted, samples, random);
    else for (const each of counted) await this.#failAll(each, range);
  }

  async #failSome(counted: readonly Counted[], samples: number, random: () => number): Promise<void> {
    const before = this.failed;
    for (let sample = 0; sample < samples; sample += 1) {
      const { failure, calls } = counted[Math.floor(random() * counted.length)] as Counted; // one of them
      await this.#fail(failure, 1 + Math.floor(random() * calls));
    }
    printProgress(`${this.#subject?.name}: ${this.failed - before} calls failed`);
  }

  /** Ends after the calls that were counted, with the first n that has none: their number differs from run to run. */
  async #failAll({ failure, calls }: Counted, [first, last]: Choice['range']): Promise<void> {
    const [before, faults] = [this.failed, this.broken.length];
    for (let nth = first; nth <= last; nth += 1) if (!(await this.#fail(failure, nth)) && nth >= calls) break;
    printProgress(
      `${this.#subject?.name}, ${failure.kind} ${failure.isTorn ? 'torn' : failure.error}: ${this.failed - before} of ${calls} calls failed, ${this.broken.length - faults} faults`,
    );
  }

  /** Resolves to whether a call failed. */
  async #fail(failure: Failure, nth: number): Promise<boolean> {
    const subject = this.#subject as Subject; // which was prepared
    const folder = path.join(this.#scratch, 'run');
    this.at = `${subject.name}, ${failure.kind} ${nth} ${failure.isTorn ? 'torn' : failure.error}`;
    await rm(folder, { recursive: true, force: true });
    await cp(this.#base, folder, { recursive: true });
    const watched = path.join(folder, subject.watched);
    this.#io.fail({ ...failure, folder: watched, nth });
    const { faults, gaveUp, promised } = await subject.run(folder);
    this.#io.release();
    const { hasFailed } = this.#io;
    if (hasFailed) this.failed += 1;
    if (gaveUp) this.givenUp += 1;
    const found = [...faults, ...(await subject.check(folder, promised, gaveUp))];
    for (const fault of found) {
      this.broken.push(`${this.at}: ${fault}`);
      printProgress(`${this.at}: ${fault}`);
    }
    return hasFailed;
  }
}
