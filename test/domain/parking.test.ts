import test from 'ava';
import {
  eventToRetry,
  type ParkingEvent,
  parkedOrSkipped,
  parkingDecider,
  waitingEvents,
} from '../../src/domain/parking/parking.ts';
import { scenario } from '../../testing/domain/given.ts';

const given = scenario(parkingDecider);
const reactor = 'checker';

test('a parked event waits until it is retried or skipped, and may be parked again', (t) => {
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
  t.deepEqual(waitingEvents(given(t, one, two).state()), [one.data, two.data]);
  t.deepEqual(waitingEvents(given(t, one, two, retried, one).state()), [two.data, one.data]);
  t.deepEqual(waitingEvents(given(t, one, two, retried, skipped).state()), []);
  t.deepEqual([...parkedOrSkipped(given(t, one, two, retried, skipped).state())], ['e-2']);
  t.deepEqual([...parkedOrSkipped(given(t, one, retried, one).state())], ['e-1']);
  t.deepEqual(eventToRetry(given(t, one, two, retried).state(), 'e-1', 2), one.data);
  const again = given(t, one, retried, one, retried).state();
  t.is(eventToRetry(again, 'e-1', 1), undefined, 'a later decision refers to it');
  t.deepEqual(eventToRetry(again, 'e-1', 3), one.data);
});

test('tens of thousands of events may be parked: none is copied for another', (t) => {
  const many = Array.from({ length: 50_000 }, (_, index) => parked(`e-${index}`));
  t.is(waitingEvents(given(t, ...many).state()).length, many.length);
});

function parked(eventId: string) {
  const data = { reactor, eventId, stream: 'deposit-1', revision: 0, reason: 'it kills' };
  return { type: 'EventParked', data } as const;
}
