import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { clock } from '../../tools/clock.ts';

/** Creates the metrics of one service; every name begins with `deposit_` and ends with its unit. */
export class Instruments {
  readonly registry = new Registry();

  counter<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Counter<Label>(this.#described(name, help, labelNames));
  }

  gauge<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) {
    return new Gauge<Label>(this.#described(name, help, labelNames));
  }

  /** @param buckets upper bounds, in the unit of the name. */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ) {
    return new Histogram<Label>({ ...this.#described(name, help, labelNames), buckets: [...buckets] });
  }

  #described<Label extends string>(name: string, help: string, labelNames: readonly Label[]) {
    return { name: `deposit_${name}`, help, labelNames, registers: [this.registry] };
  }
}

/** Returns the seconds since a moment of `clock.monotonic()`. */
export function secondsSince(started: number): number {
  return (clock.monotonic() - started) / 1000;
}

/** Returns the seconds since an RFC 3339 time; never below 0, since clocks differ. */
export function ageOf(time: string): number {
  return Math.max(0, (clock.now() - Date.parse(time)) / 1000);
}
