import test from 'ava';
import { handleCommand, readState } from '../../src/deposits/command-handler.ts';
import { KeptStates } from '../../src/deposits/kept-states.ts';
import { deposits } from '../../src/domain/aggregates.ts';
import type { DepositCommand } from '../../src/domain/deposit/commands.ts';
import type { Deposit } from '../../src/domain/deposit/state.ts';
import { type Appended, EventLogUnavailable, type RecordedEvent } from '../../src/event-log/event-log.ts';
import { anyContext } from '../../testing/domain/commands.ts';
import { aliceArchive, changeDeposit, createDeposit } from '../../testing/domain/example-deposits.ts';
import { MemoryEventLog } from '../../testing/event-log/memory-event-log.ts';
import { seeded } from '../../testing/processes/seeded-random.ts';

/** A log that sometimes stores an append and loses its answer, and repeats ids like a server. */
class LossyLog extends MemoryEventLog {
  readonly #random: () => number;

  constructor(random: () => number) {
    super();
    this.#random = random;
  }

  override async append(...call: Parameters<MemoryEventLog['append']>): Promise<Appended> {
    if (this.#random() < 0.1) throw new EventLogUnavailable('The append was lost.');
    const appended = await super.append(...call);
    if (this.#random() < 0.15) throw new EventLogUnavailable('The answer was lost.');
    return appended;
  }
}

const [NODES, STREAMS, STEPS] = [3, 4, 300];

for (const seed of [1, 2, 3, 4, 5]) {
  test(`a cached state that an event proves is a state of the stream: seed ${seed}`, async (t) => {
    const random = seeded(seed);
    const below = (limit: number) => Math.floor(random() * limit);
    await using log = new LossyLog(random);
    const nodes = Array.from({ length: NODES }, () => new KeptStates<Deposit>());
    let [proven, unproven] = [0, 0];

    const execute = async (node: KeptStates<Deposit>, id: number): Promise<void> => {
      // Nodes share ids of commands, as for one event that two of them handle; what they decide differs by the time.
      const context = anyContext({
        commandId: `command-${below(8)}`,
        now: `2026-03-01T10:00:0${below(3)}.000Z`,
      });
      const command = commandFor(id, below(4), below(100));
      const events = await Array.fromAsync(log.readStream(`deposit-${id}`));
      const last = events.at(-1);
      const from = random() < 0.5 && last ? node.provenBy(last) : undefined;
      const fresh = command.type === 'CreateDeposit';
      await handleCommand(log, deposits, id, command, context, { kept: node, from, fresh }).catch(
        () => undefined,
      );
    };
    const examine = async (node: KeptStates<Deposit>, event: RecordedEvent): Promise<void> => {
      const kept = node.provenBy(event);
      if (!kept) {
        unproven += 1;
        return;
      }
      proven += 1;
      t.true(kept.revision !== 'none' && kept.revision >= event.revision);
      const prefix = new MemoryEventLog();
      const limit = Number(kept.revision) + 1;
      for await (const { stream, revision, ...stored } of log.readStream(event.stream, { limit }))
        await prefix.append(stream, revision === 0 ? 'none' : revision - 1, [stored]);
      const { state, revision, hash } = await readState(
        prefix,
        deposits,
        event.stream.replace('deposit-', ''),
      );
      t.deepEqual({ state: kept.state, revision: kept.revision, hash: kept.hash }, { state, revision, hash });
    };

    for (let step = 0; step < STEPS; step += 1) {
      const id = 1 + below(STREAMS);
      // Two nodes at the same time, so that one of them gets a success for what the other has appended.
      await Promise.all([execute(nodes[below(NODES)]!, id), execute(nodes[below(NODES)]!, id)]);
      const events = await Array.fromAsync(log.readStream(`deposit-${id}`));
      for (const event of events.slice(-6)) for (const node of nodes) await examine(node, event);
    }
    t.true(proven > 20 && unproven > 20, `${proven} proven, ${unproven} not`);
  });
}

function commandFor(depositId: number, kind: number, serial: number): DepositCommand {
  const archive = { ...aliceArchive, filename: `${serial}.zip` };
  if (kind === 0) return { ...createDeposit({ isFinal: false, entry: null }), depositId };
  return { ...changeDeposit({ kind: 'add-content', archive, entry: null }), depositId, maxArchives: 1000 };
}

test('the cache of states is limited by events, since each event may add a whole entry to a state', (t) => {
  const kept = new KeptStates<Deposit>();
  const [streams, revision] = [200, 99];
  const hashOf = (stream: string) => `hash of ${stream}`;
  for (let number = 0; number < streams; number += 1) {
    const stream = `deposit-${number}`;
    const present = {
      state: { status: 'absent' },
      revision,
      hash: hashOf(stream),
      position: undefined,
    } as const;
    kept.keep(stream, present, [hashOf(stream)]);
  }
  const event = { id: '', type: 'MetadataAdded', data: {}, revision, position: '' };
  const left = Array.from({ length: streams }, (_, number) => `deposit-${number}`).filter((stream) =>
    kept.provenBy({ ...event, stream, metadata: { hash: hashOf(stream) } }),
  );
  t.is(left.at(-1), `deposit-${streams - 1}`);
  t.true(left.length <= 60, `${left.length} streams of a hundred events each are cached`);
});
