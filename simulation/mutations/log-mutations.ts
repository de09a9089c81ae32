import type { Mutation } from './mutation.ts';

/** Defects of appends, ids, keyed requests, views and the object store. */
export const LOG_MUTATIONS = {
  'revision-not-checked': {
    edits: [
      {
        file: 'src/event-log/eventstoredb/appends.ts',
        find: '{ ...options, expectedRevision }',
        replace: "{ ...options, expectedRevision: stream === 'ids-deposit' ? 'any' : expectedRevision }",
      },
    ],
  },
  'new-ids-on-repetition': {
    edits: [
      {
        file: 'src/event-log/eventstoredb/appends.ts',
        find: 'client.appendToStream(stream, events,',
        replace:
          'client.appendToStream(stream, events.map((event) => ({ ...event, id: crypto.randomUUID() })),',
      },
    ],
  },
  'ids-of-another-node': {
    edits: [
      {
        file: 'src/deposit-ids.ts',
        find: 'next: end === first ? next : first,',
        replace: 'next,',
      },
    ],
  },
  'ids-kept-after-refusal': {
    edits: [
      {
        file: 'src/deposit-id-reservations.ts',
        find: 'next: tail.next + count };\n        return',
        replace: 'next: tail.next + Math.min(count, 3) };\n        return',
      },
    ],
  },
  'command-not-from-key': {
    edits: [
      {
        file: 'src/keyed-requests.ts',
        find: 'return { commandId: stream, depositId',
        replace: 'return { commandId: randomUUID(), depositId',
      },
    ],
  },
  'loser-of-key-takes-own': {
    edits: [
      {
        file: 'src/keyed-requests.ts',
        find: 'if (first) return first;',
        replace: 'if (first) return requestIn(stream, begun);',
      },
    ],
  },
  'hash-chain-skips': {
    edits: [
      {
        file: 'src/event-log/hash-chain.ts',
        find: 'previous = hashOf(stream, firstRevision + index, linked);',
        replace: 'previous = index > 1 ? prevHash : hashOf(stream, firstRevision + index, linked);',
      },
    ],
  },
  'view-leaves-out-last': {
    edits: [
      {
        file: 'src/read-models/apply-events.ts',
        find: 'changesOf(projection, table, news), last)',
        replace: 'changesOf(projection, table, news.slice(0, Math.max(1, news.length - 1))), last)',
      },
    ],
  },
  'subscription-begins-at-head': {
    edits: [
      {
        file: 'src/event-log/eventstoredb/subscription.ts',
        find: 'await using feed = new SubscriptionFeed(',
        replace: 'if (this.#delivered) this.#reach(start);\n    await using feed = new SubscriptionFeed(',
      },
    ],
  },
  'newer-version-removed': {
    edits: [
      {
        file: 'src/archive-store/minio/remove-stored.ts',
        find: 'bucket.removeOnce(key, found.versionId)',
        replace: 'bucket.removeOnce(key, undefined)',
      },
    ],
  },
  'view-not-awaited': {
    edits: [
      {
        file: 'src/http/deposit-desk.ts',
        find: 'const VIEW_PATIENCE = 2000;',
        replace: 'const VIEW_PATIENCE = 0;',
      },
    ],
    coveredBy: 'DepositReads.atLeast folds the stream when the view is older than the write',
  },
} as const satisfies Readonly<Record<string, Mutation>>;
