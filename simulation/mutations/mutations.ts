/** A change of one source text; `find` must occur in it. */
export type Edit = {
  /** Relative to the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
};

/** A defect that is put in on purpose, to see whether the invariants find it. */
export type Mutation = { readonly name: string; readonly edits: readonly Edit[] };

export const MUTATIONS: readonly Mutation[] = [];

/** Returns the mutation with a name; `undefined` for no name. @throws {Error} there is none with that name. */
export function mutationNamed(name: string | undefined): Mutation | undefined {
  if (name === undefined) return undefined;
  const found = MUTATIONS.find((mutation) => mutation.name === name);
  if (!found) throw new Error(`There is no mutation ${name}.`);
  return found;
}
