import type { DepositStatusView } from '../../../projections/deposit-status.ts';
import type { DepositQueries } from '../../deposits/queries.ts';
import {
  isStatusChange,
  type StatusChange,
  type StatusChangeContext,
  StatusChangeReader,
} from '../../deposits/status-change.ts';
import { deposits } from '../../domain/aggregates.ts';
import { type EventLog, lastEvent, type Position } from '../../event-log/event-log.ts';
import { findDeposit } from '../../http/iris/deposit-resource.ts';
import { resource } from '../../http/iris/resource.ts';
import type { Credentials } from '../../http/middleware/credentials.ts';
import { grantedCollection } from '../../http/requests/path-names.ts';
import type { ServiceContext, ServiceMiddleware } from '../../http/service-context.ts';
import { badRequest, quoted, type SwordError } from '../../sword/sword-error.ts';
import { clock } from '../../tools/clock.ts';
import type { View } from '../../views/view.ts';
import { announceEvents, answerEvents, type EventsOptions } from './answer-events.ts';
import type { EventStreams } from './event-streams.ts';
import type { SealedPositions } from './sealed-positions.ts';
import { CollectionStatusChanges, DepositStatusChanges } from './status-change-sources.ts';

type EventsHandlerOptions = StatusChangeContext & {
  readonly log: EventLog;
  readonly statuses: View<DepositStatusView>;
  readonly streams: EventStreams;
  readonly positions: SealedPositions;
  readonly queries: DepositQueries;
  readonly credentials: Credentials;
};

/** Maximum age in days of an event at which a stream can be resumed. */
const RESUMES_FOR = 7;
const DAY = 86_400_000;

type Followed = DepositStatusView & { readonly isDeleted?: true };

/**
 * The changes of one deposit as they happen: the latest first of all, or those behind `Last-Event-ID`, up to its deletion
 * if it has been deleted since.
 */
export function depositEventsHandler(options: EventsHandlerOptions): ServiceMiddleware {
  const { log, queries, streams } = options;
  return resource<Followed>({
    find: (ctx) => {
      const isResumed = lastEventId(ctx) !== undefined;
      return findDeposit(ctx, async (id, client) => {
        return (
          (await queries.ownStatus(id, client)) ?? (isResumed ? deletedDeposit(log, id, client) : undefined)
        );
      });
    },
    handlers: {
      GET: async (ctx, { depositId, revision, collection, ...deposit }) => {
        const after = await revisionIn(ctx, log, { depositId, revision });
        const isEnded = deposit.status === 'done' || deposit.isDeleted === true;
        if (isEnded && after !== undefined && !(await hasNews(queries, depositId, after, revision))) {
          ctx.status = 204; // by which the client does not reconnect
          return;
        }
        using stream = streams.open(ctx.state.login.client, { depositId });
        if (ctx.method === 'HEAD') return announceEvents(ctx);
        const source = new DepositStatusChanges(log, depositId, after);
        await answerEvents(ctx, source, stream, eventsOptions(ctx, collection, options));
      },
    },
  });
}

/** The changes of all deposits of the client in a collection, from now on or behind `Last-Event-ID`. */
export function collectionEventsHandler(options: EventsHandlerOptions): ServiceMiddleware {
  const { log, statuses, streams, positions } = options;
  return resource<string>({
    find: async (ctx) => grantedCollection(ctx),
    handlers: {
      GET: async (ctx, collection) => {
        const { client } = ctx.state.login;
        const owner = { client, collection };
        using stream = streams.open(client, owner);
        const after = await positionIn(ctx, log, (token) => positions.open(token, owner));
        if (ctx.method === 'HEAD') return announceEvents(ctx);
        const toToken = (position: Position) => positions.seal(position, owner);
        const source = new CollectionStatusChanges({ ...owner, log, statuses, stream, after, toToken });
        await answerEvents(ctx, source, stream, eventsOptions(ctx, collection, options));
      },
    },
  });
}

/**
 * Returns a deposit of the client as it was before its deletion, at the revision of the deletion, for clients that missed
 * that event. Of another client's, no more is read than of one that does not exist, so that the time reveals no ids.
 */
async function deletedDeposit(
  log: EventLog,
  depositId: number,
  client: string,
): Promise<Followed | undefined> {
  const [first] = await Array.fromAsync(log.readStream(`${deposits.prefix}${depositId}`, { limit: 1 }));
  if (first?.data['client'] !== client) return undefined;
  let last: StatusChange | undefined;
  for await (const news of new StatusChangeReader(log, depositId).more()) last = news;
  if (last?.event.type !== 'DepositDeleted') return undefined;
  return { ...last.deposit, revision: last.event.revision, isDeleted: true };
}

/**
 * Returns whether the status changed after a revision. An update of the metadata of a deposit that is done does not change
 * it.
 */
async function hasNews(queries: DepositQueries, id: number, after: number, last: number): Promise<boolean> {
  if (after >= last) return false;
  return (await queries.history(id, after + 1, last - after)).some(isStatusChange);
}

function eventsOptions(
  ctx: ServiceContext,
  collection: string,
  { credentials, iris, refIdAliases }: EventsHandlerOptions,
): EventsOptions {
  const { login } = ctx.state;
  return {
    iris,
    refIdAliases,
    isAllowed: () => credentials.currentLogin(login)?.collections.includes(collection) ?? false,
  };
}

/**
 * Returns the revision after which the client resumes, which a deposit as it is known here may not have yet.
 * @throws 400 when it is of no event of the deposit; 503 when only the log knows that, and cannot be read.
 */
async function revisionIn(
  ctx: ServiceContext,
  log: EventLog,
  { depositId, revision }: Pick<Followed, 'depositId' | 'revision'>,
): Promise<number | undefined> {
  const token = lastEventId(ctx);
  if (token === undefined) return undefined;
  if (!/^\d{1,15}$/.test(token)) throw unknownToken(token);
  const after = Number(token);
  if (after <= revision) return after;
  const last = await lastEvent(log, `${deposits.prefix}${depositId}`);
  if (!last || last.revision < after) throw unknownToken(token);
  return after;
}

/** @throws 400 when it is no position of this log for the client, or one of long ago. */
async function positionIn(
  ctx: ServiceContext,
  log: EventLog,
  open: (token: string) => Position | undefined,
): Promise<Position | undefined> {
  const token = lastEventId(ctx);
  const head = await log.head();
  if (token === undefined) return head;
  const position = open(token);
  if (position === undefined || head === undefined || !hasFormOf(head, position) || position > head)
    throw unknownToken(token);
  for await (const { metadata } of log.readAll({ after: position })) {
    const { occurredAt } = metadata as { occurredAt?: unknown };
    const age = typeof occurredAt === 'string' ? clock.now() - Date.parse(occurredAt) : 0;
    if (age > RESUMES_FOR * DAY) throw badRequest(`Last-Event-ID is more than ${RESUMES_FOR} days old.`);
    break;
  }
  return position;
}

/** Positions of one log differ in their digits alone. */
function hasFormOf(position: Position, other: string): boolean {
  const form = (text: string): string => text.replace(/[0-9a-f]/g, '0');
  return form(position) === form(other);
}

function lastEventId({ req }: ServiceContext): string | undefined {
  const value = req.headers['last-event-id'];
  return value === undefined || value === '' ? undefined : String(value);
}

function unknownToken(token: string): SwordError {
  return badRequest(`Last-Event-ID ${quoted(token)} is not the id of an event here: connect without it.`);
}
