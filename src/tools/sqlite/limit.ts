/**
 * The limit of a query, with its number as a parameter. SQLite prepares a statement whose limit is a parameter alone
 * again at each run, which takes longer than most runs.
 */
export const LIMIT = 'LIMIT +?';
