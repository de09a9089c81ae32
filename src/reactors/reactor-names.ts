/** The names of all reactors. */
export const REACTORS = ['checker', 'loader'] as const;
/** Those and what follows deposits for others' sake: each may have events that wait for an operator. */
export const PARKING = [...REACTORS, 'notifier'] as const;
