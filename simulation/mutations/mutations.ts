import { LOG_MUTATIONS } from './log-mutations.ts';
import type { Mutation } from './mutation.ts';
import { REACTOR_MUTATIONS } from './reactor-mutations.ts';

/** Every mutation, by its name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = { ...LOG_MUTATIONS, ...REACTOR_MUTATIONS };

/** Returns a mutation; `undefined` for no name. @throws {Error} there is none with that name. */
export function mutationNamed(name: string | undefined): Mutation | undefined {
  if (name === undefined) return undefined;
  const found = Object.hasOwn(MUTATIONS, name) ? MUTATIONS[name] : undefined;
  if (!found) throw new Error(`There is no mutation ${name}.`);
  return found;
}
