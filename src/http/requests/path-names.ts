import type { ClientLogin } from '../../../projections/client-logins.ts';
import type { CollectionView } from '../../../projections/collections.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { View } from '../../views/view.ts';
import type { ServiceContext } from '../service-context.ts';

type Params = {
  readonly collection: string;
  readonly deposit: string;
  readonly file: string;
  readonly upload: string;
};

/** Returns the collection that the path names. @throws {SwordError} 404: not granted to the client. */
export function grantedCollection(ctx: ServiceContext): string {
  const { collection } = paramsOf(ctx);
  assertGranted(ctx.state.login, collection);
  return collection;
}

/** Returns a collection that is granted to a client. @throws {SwordError} 404: it does not exist. */
export function collectionNamed(collections: View<CollectionView>, name: string): CollectionView {
  const collection = collections.get(name);
  if (!collection) throw notFound(`There is no collection ${name}.`);
  return collection;
}

/** @throws {SwordError} 404: the collection is not granted to the client. */
export function assertGranted(login: ClientLogin, collection: string): void {
  if (!isGranted(login, collection)) throw notFound(`There is no collection ${collection} for this client.`);
}

export function isGranted({ collections }: ClientLogin, collection: string): boolean {
  return collections.includes(collection);
}

/** Returns the parameters of the path; only those that the route defines are set. */
export function paramsOf(ctx: ServiceContext): Params {
  return (ctx as unknown as { params: Params }).params; // set by the router
}

/** Returns the deposit id that the digits of a path name, or `undefined` for any other text. */
export function depositIdIn(text: string | undefined): number | undefined {
  if (text === undefined || !/^[1-9][0-9]{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : undefined;
}
