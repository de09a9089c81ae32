import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { EngineProcesses } from '../../drills/engines/engine-processes.ts';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { credentialsOf } from '../../src/event-log/eventstoredb/settings.ts';
import { atLeast, type Goal } from '../frame/goal.ts';
import { interleave, secondsOf } from '../frame/interleave.ts';

const [WRITERS, EVENTS] = [16, 150];

/** Compares appends of both sides on the same double, each to its own streams, with the expected revision. */
export const logAdapter: Goal = {
  id: 'D1',
  what: `append to EventStoreDB (its double), ${WRITERS} writers`,
  async measure(bench) {
    await using engines = await EngineProcesses.start();
    const connectionString = engines.settings['DEPOSIT_EVENT_LOG'] as string;
    await using log = await EventStoreDbEventLog.open({ connectionString });
    const client = EventStoreDBClient.connectionString(connectionString);
    // With credentials, as the adapter sends them, each append is a call of its own.
    const options = { credentials: credentialsOf({ connectionString }), requiresLeader: true };
    const found = await interleave(bench, 'D1', {
      adapter: () =>
        rateOf((stream, revision, event) =>
          log.append(stream, revision === 0 ? 'none' : revision - 1, [event]),
        ),
      client: () =>
        rateOf((stream, revision, { id, type, data, metadata }) =>
          client.appendToStream(stream, jsonEvent({ id, type, data, metadata }), {
            ...options,
            expectedRevision: revision === 0 ? 'no_stream' : BigInt(revision - 1),
          }),
        ),
    });
    await client.dispose();
    return [
      {
        what: 'the adapter',
        unit: 'events/s',
        ours: { name: 'event log on EventStoreDB', values: found.adapter },
        reference: { name: 'bare client', values: found.client },
        wanted: atLeast(0.8),
      },
    ];
  },
};

type BenchEvent = ReturnType<typeof newEvent>;
type Append = (stream: string, revision: number, event: BenchEvent) => Promise<unknown>;

async function rateOf(append: Append): Promise<number> {
  const writer = async (): Promise<void> => {
    const stream = `bench-${randomUUID()}`;
    for (let revision = 0; revision < EVENTS; revision += 1) await append(stream, revision, newEvent());
  };
  const seconds = await secondsOf(() => Promise.all(Array.from({ length: WRITERS }, writer)));
  return (WRITERS * EVENTS) / seconds;
}

function newEvent() {
  return { id: randomUUID(), type: 'Benched', data: { text: 'x'.repeat(800) }, metadata: { actor: 'bench' } };
}
