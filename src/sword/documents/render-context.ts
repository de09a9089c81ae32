import type { Iris } from '../iris.ts';
import type { Generator } from './generator.ts';

/** Configuration of rendered documents. */
export type RenderContext = {
  readonly iris: Iris;
  readonly depositNamespace: string;
  readonly generator: Generator;
};
