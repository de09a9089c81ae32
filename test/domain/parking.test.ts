import test from 'ava';
import { leftIn, type ParkingEvent, parkingDecider, waitingIn } from '../../src/domain/parking/parking.ts';
import { scenario } from '../support/given.ts';

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
  t.deepEqual(waitingIn(given(t, one, two).state()), [one.data, two.data]);
  t.deepEqual(waitingIn(given(t, one, two, retried, one).state()), [two.data, one.data]);
  t.deepEqual(waitingIn(given(t, one, two, retried, skipped).state()), []);
  t.deepEqual([...leftIn(given(t, one, two, retried, skipped).state())], ['e-2']);
  t.deepEqual([...leftIn(given(t, one, retried, one).state())], ['e-1']);
});

test('tens of thousands of events may wait: none is copied for another', (t) => {
  const many = Array.from({ length: 50_000 }, (_, index) => parked(`e-${index}`));
  t.is(waitingIn(given(t, ...many).state()).length, many.length);
});

function parked(eventId: string) {
  const data = { reactor, eventId, stream: 'deposit-1', revision: 0, reason: 'it kills' };
  return { type: 'EventParked', data } as const;
}
