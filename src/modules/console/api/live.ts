import { PassThrough } from 'node:stream';
import { deposits } from '../../../domain/aggregates.ts';
import { describeDepositEvent } from '../../../domain/deposit/describe.ts';
import { actorOf, occurredAt, type RecordedEvent } from '../../../event-log/event-log.ts';
import { EVENT_STREAM_TYPE } from '../../../sword/headers/media-type.ts';
import { clock } from '../../../tools/clock.ts';
import { FairSemaphore } from '../../../tools/concurrency/fair-semaphore.ts';
import type { Viewer } from '../access/sessions.ts';
import { rowOf } from '../listing/deposit-query.ts';
import type { LiveChange } from '../protocol/live-change.ts';
import { permits } from '../protocol/permissions.ts';
import type { ConsoleParts } from '../server/console-parts.ts';
import { ConsoleRefusal, type Route, type ViewerRequest } from '../server/route.ts';

/** Maximum number of open streams on this node, per person or client and in total. */
const [MAX_PER_VIEWER, MAX_TOTAL] = [20, 500];
/** Milliseconds between two comments, which keep the connection; each time, the session is checked again. */
const HEARTBEAT_MS = 5000;
/** Bytes that a slow reader may leave unread; beyond them its stream ends, and its browser connects again. */
const MAX_UNREAD_BYTES = 262_144;

type LiveStream = {
  /** Returns the viewer as of now; `undefined` once the session has ended. */
  readonly current: () => Viewer | undefined;
  readonly body: PassThrough;
};

/** Returns the route by which open pages learn of changes. The browser reads the present state by other routes. */
export function liveRoutes({ projector, depositsOf, sessions, resources }: ConsoleParts): readonly Route[] {
  const open = new Set<LiveStream>();
  const pages = new FairSemaphore({
    limit: MAX_TOTAL,
    ownerLimit: MAX_PER_VIEWER,
    refuse: () => new ConsoleRefusal(429, 'TOO_MANY_STREAMS', 'Too many pages are open: close some.'),
  });
  const everything = depositsOf({ scope: null });
  const stopListening = projector.listen((events) => {
    if (open.size > 0) for (const event of events) publish(event);
  });
  resources.defer(() => {
    stopListening();
    for (const { body } of open) body.end();
  });
  return [
    {
      method: 'GET',
      path: '/console/api/live',
      permission: 'deposits:read',
      isBackground: true,
      answer: begin,
    },
  ];

  function publish(event: RecordedEvent): void {
    if (!event.stream.startsWith(deposits.prefix)) return;
    if (!deposits.codec.versions.has(event.type)) return; // of a newer release: views pass over it as well
    const view = everything.get(event.stream.slice(deposits.prefix.length));
    const actor = actorOf(event);
    const change: LiveChange = {
      depositId: Number(event.data['depositId']),
      revision: event.revision,
      type: event.type,
      sentence: describeDepositEvent(deposits.codec.read(event)).sentence,
      at: occurredAt(event),
      actor,
      row: view ? rowOf(view) : null,
    };
    const [toAll, toDepositors] = [textOf(change), textOf({ ...change, actor: shownToDepositors(actor) })];
    for (const stream of open) {
      const now = stream.current(); // role and grants may have changed since the page was opened
      if (now && maySee(now, change)) write(stream, now.scope === null ? toAll : toDepositors);
    }
  }

  /** Returns whether the change is one of a deposit that exists for the viewer. */
  function maySee(viewer: Viewer, { row }: LiveChange): boolean {
    if (!permits(viewer.role, 'deposits:read')) return false;
    if (viewer.scope === null) return true;
    return row !== null && depositsOf(viewer).includes(row);
  }

  function begin({ ctx, viewer }: ViewerRequest): void {
    const current = sessions.watch(ctx);
    const permit = pages.acquireNow(`${viewer.kind} ${viewer.name}`);
    const stream: LiveStream = { current, body: new PassThrough() };
    const heartbeat = clock.setInterval(() => {
      if (permits(current()?.role, 'deposits:read')) write(stream, ': still here\n\n');
      else stream.body.end();
    }, HEARTBEAT_MS);
    open.add(stream);
    const { socket } = ctx.req;
    const leave = (): void => void stream.body.destroy();
    socket.once('end', leave); // a page that has gone closes its side first
    stream.body.once('close', () => {
      socket.off('end', leave);
      clock.clearInterval(heartbeat);
      open.delete(stream);
      permit[Symbol.dispose]();
    });
    ctx.status = 200;
    ctx.set('Content-Type', EVENT_STREAM_TYPE);
    ctx.set('X-Accel-Buffering', 'no');
    ctx.body = stream.body;
    write(stream, ': connected\n\n');
  }
}

function textOf(change: LiveChange): string {
  return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
}

/** Returns the actor without the name of a person, which depositors do not see over SWORD either. */
function shownToDepositors(actor: LiveChange['actor']): LiveChange['actor'] {
  return ['operator', 'person'].includes(actor.kind) ? { kind: 'operator', name: 'operator' } : actor;
}

function write({ body }: LiveStream, text: string): void {
  if (body.writableLength > MAX_UNREAD_BYTES) body.destroy();
  else if (!body.writableEnded) body.write(text);
}
