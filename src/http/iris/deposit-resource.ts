import type { ClientLogin } from '../../../projections/client-logins.ts';
import type { CollectionView } from '../../../projections/collections.ts';
import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { notFound } from '../../sword/sword-error.ts';
import type { View } from '../../views/view.ts';
import { assertNoDryRun } from '../requests/dry-run-parameter.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { depositIdIn, type Handlers, type Method, type Resource, resource } from './resource.ts';

/** The part of a view that names the owner and the progress of a deposit. */
export type OwnedDeposit = Pick<
  DepositContentView,
  'depositId' | 'client' | 'collection' | 'status' | 'revision'
>;

/**
 * Builds the resource of one deposit of the requesting client. Deposits that belong to another client, are deleted, or
 * are in another collection get 404. Writes are possible only while the deposit is partial (interface.md, Life of a
 * deposit).
 */
export function depositResource<Shown extends OwnedDeposit>(
  read: (depositId: number, client: string) => Promise<Shown | undefined>,
  handlers: Handlers<Shown>,
  possible: Resource<Shown>['possible'] = isPossible,
): ServiceMiddleware {
  return resource<Shown>({ find: (ctx) => findDeposit(ctx, read), handlers, possible });
}

/** Returns the deposit that the path names. @throws {SwordError} 404; 400: a write asks for a dry run */
export async function findDeposit<Shown extends OwnedDeposit>(
  ctx: ServiceContext,
  read: (depositId: number, client: string) => Promise<Shown | undefined>,
): Promise<Shown> {
  const collection = grantedCollection(ctx);
  const { deposit: text } = paramsOf(ctx);
  const id = depositIdIn(text);
  const { client } = ctx.state.login;
  const deposit = id === undefined ? undefined : await read(id, client);
  if (!deposit || deposit.client !== client || deposit.collection !== collection) {
    throw notFound(`There is no deposit ${text} in the collection ${collection}.`);
  }
  assertNoDryRun(ctx);
  return deposit;
}

export function isPossible({ status }: Pick<OwnedDeposit, 'status'>, method: Method): boolean {
  return method === 'GET' || status === 'partial';
}

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
