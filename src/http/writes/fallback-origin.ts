import type { Iris } from '../../sword/iris.ts';

export type OriginParts = {
  readonly providerUrl: string | null;
  readonly slug: string | null;
  readonly uuid: string;
  readonly collection: string;
  readonly depositId: number;
};

/** Returns the origin of a deposit whose metadata name none. */
export function fallbackOrigin(
  iris: Iris,
  { providerUrl, slug, uuid, collection, depositId }: OriginParts,
): string {
  if (providerUrl === null) return iris.deposit(collection, depositId);
  return `${providerUrl}/${slug === null ? uuid : encodeURIComponent(slug)}`;
}
