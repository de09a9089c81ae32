import test from 'ava';
import { decisionsIn, type ParkingEvent, parkingDecider } from '../../src/domain/parking/parking.ts';
import { scenario } from '../../testing/domain/given.ts';

const given = scenario(parkingDecider);
const reactor = 'checker';

test('an event waits from when it is parked until it is retried or skipped, and may be parked again', (t) => {
  const [one, two] = [parked('e-1'), parked('e-2')];
  const retried: ParkingEvent = { type: 'ParkedRetried', data: { reactor, eventId: 'e-1' } };
  const skipped: ParkingEvent = { type: 'ParkedSkipped', data: { reactor, eventId: 'e-2', reason: 'no' } };
  const park = { ...one.data, type: 'ParkEvent' } as const;
  given(t).when(park).thenEvents(one);
  given(t, one, two).when(park).thenNothing();
  given(t, one, two).when({ type: 'RetryParked', reactor, eventId: 'e-1' }).thenEvents(retried);
  given(t, one, two, retried)
    .when({ type: 'RetryParked', reactor, eventId: 'e-1' })
    .thenRefused('NOT_PARKED');
  given(t, one, two, skipped)
    .when({ type: 'SkipParked', reactor, eventId: 'e-2', reason: 'no' })
    .thenRefused('NOT_PARKED');
  given(t, one, two, retried).when(park).thenEvents(one);
  t.deepEqual(decisionsIn(given(t, one, two).state()).waiting, [one.data, two.data]);
  t.deepEqual(decisionsIn(given(t, one, two, retried, one).state()).waiting, [two.data, one.data]);
  t.deepEqual(decisionsIn(given(t, one, two, retried, skipped).state()).waiting, []);
  t.deepEqual([...decisionsIn(given(t, one, two, retried, skipped).state()).parkedOrSkipped], ['e-2']);
  t.deepEqual([...decisionsIn(given(t, one, retried, one).state()).parkedOrSkipped], ['e-1']);
  t.deepEqual(decisionsIn(given(t, one, two, retried).state()).eventToRetry('e-1', 2), one.data);
  const again = decisionsIn(given(t, one, retried, one, retried).state());
  t.is(again.eventToRetry('e-1', 1), undefined, 'a later decision is about it');
  t.deepEqual(again.eventToRetry('e-1', 3), one.data);
  t.is(
    decisionsIn(given(t, one, two).state()).eventToRetry('e-1', 0),
    undefined,
    'it was not to be tried again',
  );
});

test('tens of thousands of events may wait: none is copied for another', (t) => {
  const many = Array.from({ length: 50_000 }, (_, index) => parked(`e-${index}`));
  t.is(decisionsIn(given(t, ...many).state()).waiting.length, many.length);
});

function parked(eventId: string) {
  const data = { reactor, eventId, stream: 'deposit-1', revision: 0, reason: 'it kills' };
  return { type: 'EventParked', data } as const;
}
