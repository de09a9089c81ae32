import type { Inputs } from '../inputs/inputs.ts';
import type { Plot } from './plot.ts';

/** One way in which the work can grow. */
export type Dimension = {
  readonly name: string;
  readonly what: string;
  /** Sizes of the points if no others are requested. */
  readonly sizes: readonly number[];
  /** Resolves to the plots by the names of their files. */
  measure(bench: ScaleBench, sizes: readonly number[]): Promise<Readonly<Record<string, Plot>>>;
};

export type ScaleBench = {
  readonly folder: string;
  readonly inputs: Inputs;
  readonly tell: (progress: string) => void;
};

/** Points by the name of their curve, in the order of insertion. */
export class Curves {
  readonly #points = new Map<string, [number, number][]>();

  add(name: string, x: number, y: number): void {
    this.#points.set(name, [...(this.#points.get(name) ?? []), [x, y]]);
  }

  plot(title: string, x: string, y: string): Plot {
    const curves = [...this.#points].map(([name, points]) => ({ name, points }));
    return { title, x, y, curves };
  }
}
