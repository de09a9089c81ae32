import { EventEmitter } from 'node:events';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import type { ServiceContext } from '../../../src/http/service-context.ts';
import { answerEvents } from '../../../src/modules/status-events/answer-events.ts';
import { OpenStream } from '../../../src/modules/status-events/event-streams.ts';
import type { StatusChangeSource } from '../../../src/modules/status-events/status-change-sources.ts';
import { Iris } from '../../../src/sword/iris.ts';
import { CLOCK_OF_NODE } from '../../../src/tools/clock.ts';
import { runInWorld } from '../../../src/tools/outside-world.ts';

type Sent = { readonly atMs: number; readonly text: string };

/** Answers with events of a source, in a time that the test advances. */
async function answering(
  more: (elapse: (ms: number) => void) => ReturnType<StatusChangeSource['more']>,
  test: (stream: OpenStream, advance: (ms: number) => Promise<void>, sent: Sent[]) => Promise<void>,
): Promise<void> {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly work: () => void }>();
  const clock = {
    ...CLOCK_OF_NODE,
    monotonic: () => now,
    setTimeout: (work: () => void, ms = 0) => {
      const timer = { at: now + ms, work };
      timers.add(timer);
      return timer as unknown as NodeJS.Timeout;
    },
    clearTimeout: (timer: NodeJS.Timeout | undefined) => void timers.delete(timer as never),
  };
  const advance = async (ms: number): Promise<void> => {
    for (const end = now + ms; now < end; now += 500) {
      for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.work();
      for (let turns = 0; turns < 5; turns += 1) await turn();
    }
  };
  const elapse = (ms: number): void => void (now += ms);
  const sent: Sent[] = [];
  const write = (text: Buffer, _encoding: unknown, done: () => void): void => {
    sent.push({ atMs: now, text: String(text) });
    done();
  };
  const socket = Object.assign(new EventEmitter(), { readableEnded: false });
  const ctx = { res: new Writable({ write }), req: { socket }, set: () => {} } as unknown as ServiceContext;
  const source = { token: undefined, isOver: false, more: () => more(elapse) };
  const options = { iris: new Iris('http://localhost'), refIdAliases: false, isAllowed: () => true };
  await runInWorld({ clock }, async () => {
    const stream = new OpenStream({ client: 'alice', collection: 'software' });
    const answered = answerEvents(ctx, source, stream, options);
    await test(stream, advance, sent);
    stream.close();
    await answered;
  });
}

function heartbeatsOf(sent: readonly Sent[]): number[] {
  return sent.filter(({ text }) => text === ':\n\n').map(({ atMs }) => atMs / 1000);
}

async function* nothing(): ReturnType<StatusChangeSource['more']> {}

test('a stream sends a heartbeat every 15 seconds when nothing happens', async (t) => {
  await answering(nothing, async (_stream, advance, sent) => {
    await advance(61_000);
    t.deepEqual(heartbeatsOf(sent), [15, 30, 45, 60]);
  });
});

test('a stream that is woken without an event for it sends its heartbeat in time', async (t) => {
  await answering(nothing, async (stream, advance, sent) => {
    for (let wakeups = 0; wakeups < 14; wakeups += 1) {
      await advance(4500);
      stream.wake();
    }
    t.deepEqual(heartbeatsOf(sent), [15, 30, 45, 60]);
  });
});

test('a stream that is woken again during each read sends its heartbeat', async (t) => {
  let [reads, stream]: [number, OpenStream | undefined] = [0, undefined];
  const slow = (elapse: (ms: number) => void): ReturnType<StatusChangeSource['more']> => {
    reads += 1;
    if (reads <= 10) {
      stream?.wake();
      elapse(5000);
    }
    return nothing();
  };
  await answering(slow, async (opened, advance, sent) => {
    stream = opened;
    await advance(1000);
    t.is(reads, 11);
    t.deepEqual(heartbeatsOf(sent), [15, 30, 45]);
  });
});
