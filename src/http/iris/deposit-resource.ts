import type { DepositContentView } from '../../../projections/deposit-content.ts';
import { notFound } from '../../sword/sword-error.ts';
import { assertNoDryRun } from '../requests/dry-run-parameter.ts';
import { depositIdIn, grantedCollection, paramsOf } from '../requests/path-names.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { type Handlers, type Method, type Resource, resource } from './resource.ts';

/** The part of a view that names the owner and the progress of a deposit. */
type OwnedDeposit = Pick<DepositContentView, 'depositId' | 'client' | 'collection' | 'status' | 'revision'>;

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
