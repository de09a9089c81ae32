import { getEventListeners } from 'node:events';
import test from 'ava';
import { EventStoreDbConnection } from '../../../src/event-log/eventstoredb/connection.ts';

test('a finished call leaves no listener on its signal, since Node would retain the signal', async (t) => {
  await using connection = new EventStoreDbConnection({ connectionString: 'esdb://127.0.0.1:1?tls=false' });
  const request = new AbortController();
  const signals: AbortSignal[] = [];
  await connection.call(async (_client, _options, stop) => void signals.push(stop));
  await connection.call(async (_client, _options, stop) => void signals.push(stop), request.signal);
  const refused = connection.call(async (_client, _options, stop) => {
    signals.push(stop);
    throw Object.assign(new Error('refused'), { type: 'access-denied' });
  });
  await t.throwsAsync(refused, { message: 'refused' });
  t.deepEqual(
    signals.map((signal) => getEventListeners(signal, 'abort').length),
    [0, 0, 0],
  );
});
