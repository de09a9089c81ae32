import type { Plan, PlannedDeposit } from './plan/plan.ts';

/** Runs a plan; resolves to whether the violation is still there. */
export type IsBad = (plan: Plan) => Promise<boolean>;

const MOST_RUNS = 400;
/** Nothing is moved to before it. */
const NODES_ARE_READY_MS = 700;

/**
 * Makes a plan simpler as long as it stays bad: removes deposits, steps and faults, halves first, then tries simpler
 * values. Latencies and ids follow from the seed alone, so what is removed changes little else. Deposits come first: the
 * number of a deposit decides which node works on it, so without the faults of other nodes more deposits are needed.
 */
export async function shrink(
  plan: Plan,
  isBad: IsBad,
): Promise<{ readonly plan: Plan; readonly runs: number }> {
  const shrinking = new Shrinking(plan, isBad);
  let before: Plan;
  do {
    before = shrinking.plan;
    await shrinking.removeFrom('deposits');
    for (let index = 0; index < shrinking.plan.deposits.length; index++) await shrinking.removeSteps(index);
    await shrinking.removeFrom('faults');
    await shrinking.simplify();
  } while (before !== shrinking.plan && !shrinking.isOver);
  return { plan: shrinking.plan, runs: shrinking.runs };
}

class Shrinking {
  plan: Plan;
  runs = 0;
  readonly #isBad: IsBad;

  constructor(plan: Plan, isBad: IsBad) {
    this.plan = plan;
    this.#isBad = isBad;
  }

  get isOver(): boolean {
    return this.runs >= MOST_RUNS;
  }

  async removeFrom(part: 'faults' | 'deposits'): Promise<void> {
    const list = (): readonly unknown[] => this.plan[part];
    await this.#remove(list, (rest) => ({ ...this.plan, [part]: rest }));
  }

  async removeSteps(index: number): Promise<void> {
    const deposit = (): PlannedDeposit => this.plan.deposits[index] as PlannedDeposit;
    const without = (steps: readonly unknown[]): Plan => {
      const changed = { ...deposit(), steps: steps as PlannedDeposit['steps'] };
      return { ...this.plan, deposits: this.plan.deposits.with(index, changed) };
    };
    await this.#remove(() => deposit().steps, without);
  }

  async simplify(): Promise<void> {
    for (const [index, fault] of this.plan.faults.entries()) {
      const put = (changed: object): Plan => {
        const next = { ...(this.plan.faults[index] as typeof fault), ...changed };
        return { ...this.plan, faults: this.plan.faults.with(index, next) };
      };
      await this.#simplifyFields({ at: fault.at }, put);
      const parameters = (): typeof fault.parameters => this.plan.faults[index]?.parameters ?? {};
      for (const [name, value] of Object.entries(fault.parameters))
        await this.#simplifyFields({ [name]: value }, (changed) =>
          put({ parameters: { ...parameters(), ...changed } }),
        );
    }
    for (const [
      index,
      { steps: _steps, name: _name, archive: _archive, ...fields },
    ] of this.plan.deposits.entries())
      await this.#simplifyFields(fields, (changed) => {
        const next = { ...(this.plan.deposits[index] as PlannedDeposit), ...changed };
        return { ...this.plan, deposits: this.plan.deposits.with(index, next) };
      });
  }

  /** Removes parts of a list: halves, quarters and so on. */
  async #remove(list: () => readonly unknown[], without: (rest: readonly unknown[]) => Plan): Promise<void> {
    for (let size = Math.ceil(list().length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let index = 0; index < list().length; ) {
        const isRemoved = await this.#try(without(list().toSpliced(index, size)));
        if (!isRemoved) index += size;
      }
    }
  }

  async #simplifyFields(
    fields: Readonly<Record<string, unknown>>,
    put: (changed: object) => Plan,
  ): Promise<void> {
    for (const [name, value] of Object.entries(fields))
      for (const simpler of simplerThan(name, value)) if (await this.#try(put({ [name]: simpler }))) break;
  }

  async #try(plan: Plan): Promise<boolean> {
    if (this.isOver) return false;
    this.runs += 1;
    if (!(await this.#isBad(plan))) return false;
    this.plan = plan;
    return true;
  }
}

function simplerThan(name: string, value: unknown): unknown[] {
  if (value === true) return [false];
  if (typeof value !== 'number') return [];
  const least = name === 'at' ? NODES_ARE_READY_MS : 0;
  const candidates = [least, Math.round(value / 2), Math.round(value / 1000) * 1000, Math.round(value)];
  return [...new Set(candidates)].filter(
    (candidate) => candidate !== value && candidate >= least && candidate <= Math.abs(value),
  );
}
