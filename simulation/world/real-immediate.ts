/** The macrotask of the real event loop, as it was before the globals were replaced. */
export const realImmediate: (work: () => void) => void = globalThis.setImmediate;
