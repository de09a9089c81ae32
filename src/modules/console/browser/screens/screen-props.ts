import type { Boot } from '../../protocol/boot.ts';
import type { Place } from '../router.ts';

export type ScreenProps = {
  readonly boot: Boot;
  readonly place: Place;
  /** Values of the `:name` segments of its path. */
  readonly params: Readonly<Record<string, string>>;
};
