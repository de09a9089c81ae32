import { cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { seeded } from '../../testing/processes/seeded-random.ts';
import { printProgress } from '../frame/drill.ts';
import { CUTS, type Cut, CutFolder } from './cut-folder.ts';
import type { WatchedIo } from './io-control.ts';
import { journalOf } from './io-journal.ts';
import { promisedIn } from './io-scene.ts';
import type { Subject } from './io-subjects.ts';

/** Which power cuts are tried. */
export type ChosenCuts = {
  /** After this call alone. */
  readonly at: number | undefined;
  readonly cut: string | undefined;
  /** This many states of each subject, by chance; 0: all. */
  readonly samples: number;
  readonly seed: number;
};

type State = { readonly at: number; readonly cut: Cut };

/** Runs one subject after the other once, and then on what a power cut after each of its calls leaves. */
export class PowerCutRun {
  readonly broken: string[] = [];
  calls = 0;
  /** Power cuts that were looked at, and those among them that left a folder like none before. */
  cuts = 0;
  states = 0;
  readonly #scratch: string;
  readonly #io: WatchedIo;

  constructor(scratch: string, io: WatchedIo) {
    this.#scratch = scratch;
    this.#io = io;
  }

  async cutEach(subject: Subject, choice: ChosenCuts): Promise<void> {
    const [base, folder] = [path.join(this.#scratch, 'base'), path.join(this.#scratch, 'run')];
    for (const each of [base, folder]) await rm(each, { recursive: true, force: true });
    await mkdir(base);
    await subject.prepare(base);
    const watched = path.join(folder, subject.watched);
    const journal = path.join(this.#scratch, `${subject.name}.journal`);
    await mkdir(path.join(base, subject.watched), { recursive: true });
    await cp(base, folder, { recursive: true });
    this.#io.journal(watched, journal);
    const { faults, gaveUp } = await subject.run(folder);
    this.#io.release();
    this.broken.push(...faults);
    if (gaveUp) this.broken.push(`${subject.name} did not do its work.`);
    await this.#replay(subject, { base, folder, watched, journal }, choice);
  }

  async #replay(
    subject: Subject,
    places: { base: string; folder: string; watched: string; journal: string },
    choice: ChosenCuts,
  ): Promise<void> {
    const records = journalOf(places.journal, places.watched);
    const chosen = chosenStates(records.length, choice);
    const model = new CutFolder(path.join(places.base, subject.watched));
    const seen = new Set<string>();
    const [before, faultsBefore] = [this.states, this.broken.length];
    for (const [index, record] of records.entries()) {
      const [at, isLast] = [index + 1, index + 1 === records.length];
      if (!model.apply(record) && !isLast) continue;
      this.calls += 1;
      if (at % 100 === 0)
        printProgress(`${subject.name}: call ${at} of ${records.length}, ${this.states - before} states`);
      for (const { cut } of chosen.filter((state) => state.at === at)) {
        this.cuts += 1;
        await rm(places.folder, { recursive: true, force: true });
        await cp(places.base, places.folder, { recursive: true });
        const digest = model.write(places.watched, cut, seeded(choice.seed * 1_000_003 + at));
        const isNew = !seen.has(digest + model.notes);
        seen.add(digest + model.notes);
        if (!isNew && !isLast) continue;
        this.states += 1;
        const faults = await subject.check(places.folder, promisedIn(model.notes), !isLast);
        for (const fault of faults) {
          const where = `${subject.name}, ${cut} after call ${at} (${record.kind} ${record.file})`;
          this.broken.push(`${where}: ${fault}`);
          printProgress(`${where}: ${fault}`);
        }
      }
    }
    printProgress(
      `${subject.name}: ${records.length} calls, ${this.states - before} states, ${this.broken.length - faultsBefore} faults`,
    );
  }
}

function chosenStates(calls: number, { at, cut, samples, seed }: ChosenCuts): State[] {
  const cuts = CUTS.filter((each) => cut === undefined || each === cut);
  const all = Array.from({ length: calls }, (_, index) =>
    cuts.map((each) => ({ at: index + 1, cut: each })),
  ).flat();
  if (at !== undefined) return all.filter((state) => state.at === at);
  if (samples === 0) return all;
  const random = seeded(seed);
  const last = all.slice(-cuts.length); // what was finished has to be there
  return [...Array.from({ length: samples }, () => all[Math.floor(random() * all.length)] as State), ...last];
}
