/** A change of one source text; `find` occurs in it. */
export type Edit = {
  /** Relative to the project. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
};

/** A defect that is put in on purpose, to see whether the invariants find it. */
export type Mutation = {
  readonly edits: readonly Edit[];
  /** The second guard because of which it does no harm. */
  readonly coveredBy?: string;
};
