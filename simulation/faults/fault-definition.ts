import type { Scene } from '../history/scene.ts';
import type { SeededRandom } from '../world/seeded-random.ts';

/** A kind of fault. Its parameters are plain data: they are part of the plan, and shrunk with it. */
export type FaultDefinition<Parameters = Readonly<Record<string, number | string | boolean>>> = {
  readonly draw: (random: SeededRandom) => Parameters & Readonly<Record<string, number | string | boolean>>;
  /** Begins the fault. Returns whether it had an effect; some wait for another one to end. */
  readonly begin: (parameters: Parameters, scene: Scene) => boolean;
  /** Returns the milliseconds until nothing of it is left. */
  readonly duration: (parameters: Parameters) => number;
};

/** Returns a definition in the form of the table of all faults. */
export function defineFault<Parameters>(definition: FaultDefinition<Parameters>): FaultDefinition {
  return definition as unknown as FaultDefinition; // parameters come from its own `draw`, or from a saved plan
}

/** Has a condition for some milliseconds. */
export function during<Item>(conditions: Set<Item>, item: Item, time: number, scene: Scene): true {
  conditions.add(item);
  scene.later(time, () => conditions.delete(item));
  return true;
}
