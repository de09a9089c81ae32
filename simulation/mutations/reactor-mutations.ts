import type { Mutation } from './mutation.ts';

/** Defects of deliveries, reactors and notifications. */
export const REACTOR_MUTATIONS = {
  'acknowledged-before-work': {
    edits: [
      {
        file: 'src/reactors/reactor-runner.ts',
        find: 'if (event) await tries.run(',
        replace: 'if (event) await delivery.acknowledge();\n      if (event) await tries.run(',
      },
    ],
  },
  'acknowledged-when-received': {
    edits: [
      {
        file: 'src/event-log/eventstoredb/consumer-session.ts',
        find: 'if (messages.length > 0 || copies.length === 0) yield messages;',
        replace:
          'for (const message of messages) void this.acknowledge(message);\n      if (messages.length > 0 || copies.length === 0) yield messages;',
      },
    ],
  },
  'group-with-a-filter': {
    edits: [
      {
        file: 'src/event-log/eventstoredb/group.ts',
        find: 'client.createPersistentSubscriptionToAll(GROUP, settings, options)',
        replace:
          "client.createPersistentSubscriptionToAll(GROUP, settings, { ...options, filter: { prefixes: ['deposit-', 'parked-'] } as never })",
      },
    ],
  },
  'stale-read-by-checker': {
    edits: [
      {
        file: 'src/reactors/checker.ts',
        find: 'await load(this.#log, deposits, depositIdOf(event), { atLeast: event.revision })',
        replace: 'await load(this.#log, deposits, depositIdOf(event))',
      },
    ],
  },
  'stale-read-by-loader': {
    edits: [
      {
        file: 'src/reactors/loader.ts',
        find: 'await load(this.#log, deposits, depositIdOf(event), { atLeast: event.revision })',
        replace: 'await load(this.#log, deposits, depositIdOf(event))',
      },
    ],
  },
  'attempt-not-checked': {
    edits: [
      {
        file: 'src/domain/deposit/decide.ts',
        find: "if (deposit.status !== 'deposited' || deposit.checkAttempt !== attempt) return [];\n  return [{ type: 'DepositVerified'",
        replace: "return [{ type: 'DepositVerified'",
      },
    ],
  },
  'random-command-of-reactor': {
    edits: [
      {
        file: 'src/reactors/causation.ts',
        find: 'commandId: `${reactor}/${event.id}/${step}`',
        replace: 'commandId: `${Math.random()}/${event.id}/${step}`',
      },
    ],
    coveredBy: 'the decider: what a deposit is already leads to no event',
  },
  'delivered-although-refused': {
    edits: [
      {
        file: 'src/notifications/deposit-deliveries.ts',
        find: 'if (outcome && !outcome.taken) return { revisions, failure: outcome };',
        replace: '',
      },
    ],
  },
  'not-behind-others': {
    edits: [
      {
        file: 'src/notifications/notifier.ts',
        find: 'if (newest) return this.#hold(event, due, afterFlight(newest.event));\n    if (recorded.state.held.length > 0) return this.#hold(event, due, anyTime(BEHIND_OTHERS));',
        replace: 'void [newest, recorded, afterFlight, BEHIND_OTHERS];',
      },
    ],
  },
  'no-claim': {
    edits: [
      {
        file: 'src/domain/notifications/notifications.ts',
        find: 'if (!oldest || (waitsUntil > now && waitsUntil <= latest)) return [];',
        replace: 'if (!oldest) return [];',
      },
    ],
  },
} as const satisfies Readonly<Record<string, Mutation>>;
