import type { Iris } from '../iris.ts';
import type { Generator } from './generator.ts';

/** What feeds about deposits are written with: where things are, and in whose name. */
export type Language = {
  readonly iris: Iris;
  readonly depositNamespace: string;
  readonly generator: Generator;
};
