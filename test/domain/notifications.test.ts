import test from 'ava';
import {
  type NotificationsEvent,
  notificationsDecider,
} from '../../src/domain/notifications/notifications.ts';
import { scenario } from '../../testing/domain/given.ts';

const depositId = 1;
const at = (minute: number): string => `2026-03-01T10:${String(minute).padStart(2, '0')}:00.000Z`;
const about = { depositId, client: 'alice', collection: 'software', reason: 'Nobody answers.' };

function held(revision: number): NotificationsEvent {
  const data = { ...about, eventId: `event-${revision}`, revision, heldAt: at(0) };
  return { type: 'NotificationHeld', data };
}

type HeldData = Extract<NotificationsEvent, { type: 'NotificationHeld' }>['data'];

function accepted(...revisions: number[]): NotificationsEvent {
  return { type: 'NotificationsDelivered', data: { depositId, upTo: revisions.at(-1) ?? -1, revisions } };
}

function revisionsOf(held: readonly { readonly revision: number }[]): number[] {
  return held.map(({ revision }) => revision);
}

function tried(attempt: number, minute: number): NotificationsEvent {
  return { type: 'DeliveryTried', data: { depositId, attempt, nextTryAt: at(minute) } };
}

const given = scenario(notificationsDecider);

test('a notification becomes pending once, whatever its later outcome', (t) => {
  const { type: _, ...same } = {
    type: '',
    ...(held(3).data as Extract<NotificationsEvent, { type: 'NotificationHeld' }>['data']),
  };
  const hold = { type: 'HoldNotification', ...same } as const;
  given(t).when(hold).thenEvents(held(3));
  given(t, held(3)).when(hold).thenNothing();
  given(t, held(3), { type: 'NotificationsDelivered', data: { depositId, upTo: 3 } })
    .when(hold)
    .thenNothing();
  given(t, held(0)).when(hold).thenEvents(held(3));
  given(t, held(4)).when(hold).thenEvents(held(3));
});

test('the first pending notification sets the time of the next attempt for all after it', (t) => {
  const [first, behind] = [held(0), held(3)];
  const rescheduled = { ...first, data: { ...first.data, nextTryAt: at(9) } } as NotificationsEvent;
  const whenever = { ...behind, data: { ...behind.data, nextTryAt: null } } as NotificationsEvent;
  t.is(given(t, rescheduled).state().nextTryAt, at(9));
  t.is(given(t, rescheduled, whenever).state().nextTryAt, at(9));
  t.is(given(t, held(0), rescheduled).state().nextTryAt, null);
  const attempt = { type: 'TryDelivery', depositId, now: at(8), latest: at(50), nextTryAt: at(10) } as const;
  given(t, rescheduled, whenever).when(attempt).thenNothing();
  given(t, rescheduled, whenever)
    .when({ ...attempt, now: at(9) })
    .thenEvents(tried(1, 10));
  const over: NotificationsEvent = {
    type: 'NotificationsGivenUp',
    data: { depositId, upTo: 0, reason: 'x' },
  };
  t.is(given(t, rescheduled, over, whenever).state().nextTryAt, null);
});

test('an attempt time set by a fast clock is not awaited', (t) => {
  const attempt = { type: 'TryDelivery', depositId, now: at(1), latest: at(20), nextTryAt: at(2) } as const;
  given(t, held(0), tried(1, 20)).when(attempt).thenNothing();
  given(t, held(0), tried(1, 21)).when(attempt).thenEvents(tried(2, 2));
});

test('a claim reserves the deposit for the node until its time', (t) => {
  const attempt = (minute: number) =>
    ({ type: 'TryDelivery', depositId, now: at(minute), latest: at(50), nextTryAt: at(minute + 1) }) as const;
  given(t, held(0)).when(attempt(1)).thenEvents(tried(1, 2));
  given(t, held(0), tried(1, 2)).when(attempt(1)).thenNothing();
  given(t, held(0), tried(1, 2)).when(attempt(3)).thenEvents(tried(2, 4));
  given(t).when(attempt(1)).thenNothing();
});

test('notifications that arrive during a delivery are still pending', (t) => {
  const delivered = { type: 'RecordDelivered', depositId, revisions: [0, 3] } as const;
  const event = accepted(0, 3);
  given(t, held(0), held(3), tried(1, 2), held(4)).when(delivered).thenEvents(event);
  const { held: left, nextTryAt, attempt } = given(t, held(0), held(3), tried(1, 2), held(4), event).state();
  t.deepEqual([left.map(({ revision }) => revision), nextTryAt, attempt], [[4], null, 0]);
  given(t, held(0), held(3), event).when(delivered).thenNothing();
});

test('an outcome names its revisions: a lower one that became pending meanwhile is sent first', (t) => {
  const past = [held(0), held(4), held(5), tried(1, 2), held(3)];
  t.deepEqual(revisionsOf(given(t, ...past).state().held), [0, 3, 4, 5]);
  const data = { depositId, upTo: 2, revisions: [0, 4, 5] };
  given(t, ...past)
    .when({ type: 'RecordDelivered', depositId, revisions: [0, 4, 5] })
    .thenEvents({ type: 'NotificationsDelivered', data }); // older releases read upTo alone
  const after = given(t, ...past, { type: 'NotificationsDelivered', data }).state();
  t.deepEqual([revisionsOf(after.held), after.settled], [[3], [0, 4, 5]]);
  const over = { type: 'GiveUp', depositId, revisions: [0, 4, 5], reason: 'x' } as const;
  given(t, ...past)
    .when(over)
    .thenTypes('NotificationsGivenUp');
  const given0: NotificationsEvent = { type: 'NotificationsGivenUp', data: { ...data, reason: 'x' } };
  t.deepEqual(revisionsOf(given(t, ...past, given0).state().held), [3]);
});

test('an immediate delivery is recorded once, and leaves the attempts of others unchanged', (t) => {
  const sent = { type: 'RecordDelivered', depositId, revisions: [3] } as const;
  given(t).when(sent).thenEvents(accepted(3));
  given(t, accepted(3)).when(sent).thenNothing();
  const { held: left, attempt, nextTryAt } = given(t, held(4), tried(1, 9), accepted(3)).state();
  t.deepEqual([revisionsOf(left), attempt, nextTryAt], [[4], 1, at(9)]);
  const { type: _, ...same } = { type: '', ...(held(3).data as HeldData) };
  given(t, accepted(3))
    .when({ type: 'HoldNotification', ...same })
    .thenNothing();
});

test('outcomes recorded by older releases apply to all pending notifications up to a revision', (t) => {
  const old: NotificationsEvent = { type: 'NotificationsDelivered', data: { depositId, upTo: 3 } };
  const state = given(t, held(0), held(3), held(4), old).state();
  t.deepEqual([revisionsOf(state.held), state.settled], [[4], [0, 3]]);
});

test('a late failure changes nothing', (t) => {
  const failed = { type: 'RecordFailed', depositId, attempt: 1, reason: 'x', nextTryAt: at(9) } as const;
  given(t, held(0), tried(1, 2)).when(failed).thenTypes('DeliveryFailed');
  given(t, held(0), tried(1, 2), tried(2, 4)).when(failed).thenNothing();
  given(t, held(0), tried(1, 2), { type: 'NotificationsDelivered', data: { depositId, upTo: 0 } })
    .when(failed)
    .thenNothing();
});

test('an expired notification that an operator retries is pending again for the full period', (t) => {
  const past: NotificationsEvent[] = [
    held(0),
    held(3),
    tried(1, 2),
    { type: 'NotificationsGivenUp', data: { depositId, upTo: 0, reason: 'Too long.' } },
  ];
  const over = given(t, ...past).state();
  t.deepEqual([over.held.length, over.givenUp.length, over.reason], [1, 1, 'Too long.']);
  given(t, ...past)
    .when({ type: 'GiveUp', depositId, revisions: [0], reason: 'x' })
    .thenNothing();
  const requeued: NotificationsEvent = {
    type: 'NotificationsRequeued',
    data: { depositId, requeuedAt: at(30) },
  };
  given(t, ...past)
    .when({ type: 'Requeue', depositId, now: at(30) })
    .thenEvents(requeued);
  const again = given(t, ...past, requeued).state();
  t.deepEqual(
    again.held.map(({ revision, heldAt }) => [revision, heldAt]),
    [
      [0, at(30)],
      [3, at(30)],
    ],
  );
  t.deepEqual([again.givenUp, again.attempt, again.nextTryAt], [[], 0, null]);
  given(t)
    .when({ type: 'Requeue', depositId, now: at(30) })
    .thenRefused('NOTHING_TO_RETRY');
});
