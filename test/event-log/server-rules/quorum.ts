import { setTimeout } from 'node:timers/promises';
import { append, refused, untilAppended } from './appends.ts';
import { clientAt, idsOf } from './clusters.ts';
import { notes, rule, rulesDouble } from './server.ts';

/** Rules about a leader that reaches too few others. */
export function quorumRules(): void {
  for (const fate of ['keep', 'truncate'] as const) {
    const what = fate === 'keep' ? 'committed' : 'truncated';
    rule('double', `without a quorum an append waits, unseen; it may be ${what} later`, async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: { electionMs: 50 } });
      await server.append(server.own('stream'));
      const back = double.clusterFaults.loseQuorum({ ms: 600, fate });
      const events = notes(1);
      const waiting = append(server, server.own('stream'), events, 0n).then(
        ({ nextExpectedRevision }) => nextExpectedRevision,
        () => 'no answer',
      );
      await setTimeout(50);
      t.is((await idsOf(server.client, server)).length, 1, 'no read returns it');
      await refused(t, append(server, server.own('stream'), notes(1), 0n), 1n);
      await back;
      t.is(await waiting, fate === 'keep' ? 1n : 'no answer');
      const ids = await untilAppended(() => idsOf(server.another(), server));
      t.is(ids.includes(events[0]?.id ?? ''), fate === 'keep');
      const again = await untilAppended(() => append(server, server.own('stream'), events, 0n));
      t.is(again.nextExpectedRevision, 1n, 'the same append succeeds in both cases');
    });
  }

  rule(
    'double',
    'an append that is not replicated is answered with a time-out, and may be committed later',
    async (t) => {
      const { server, double } = await rulesDouble(t, { times: { commitTimeoutMs: 100 } });
      const back = double.clusterFaults.loseQuorum({ ms: 400, fate: 'keep' });
      const error = await t.throwsAsync<Error & { type?: string }>(server.append(server.own('stream')));
      t.is(error?.type, 'timeout');
      await back;
      t.is((await idsOf(server.client, server)).length, 1);
    },
  );

  rule(
    'double',
    'the repetition of an append that is not replicated gets no answer but a time-out',
    async (t) => {
      const { server, double } = await rulesDouble(t, { times: { commitTimeoutMs: 100 } });
      const back = double.clusterFaults.loseQuorum({ ms: 400, fate: 'keep' });
      const events = notes(1);
      for (let tries = 0; tries < 2; tries += 1) {
        const error = await t.throwsAsync<Error & { type?: string }>(
          append(server, server.own('stream'), events, 'no_stream'),
        );
        t.is(error?.type, 'timeout');
      }
      await back;
      t.is((await append(server, server.own('stream'), events, 'no_stream')).nextExpectedRevision, 0n);
      t.is((await idsOf(server.client, server)).length, 1);
    },
  );

  rule(
    'double',
    'an append that is not replicated, and whose ids the leader forgot, is refused when repeated, and may be committed',
    async (t) => {
      const { server, double } = await rulesDouble(t, { times: { commitTimeoutMs: 100 } });
      const back = double.clusterFaults.loseQuorum({ ms: 400, fate: 'keep', forgets: true });
      const events = notes(1);
      await t.throwsAsync(append(server, server.own('stream'), events, 'no_stream'));
      await refused(t, append(server, server.own('stream'), events, 'no_stream'), 0n);
      await back;
      t.is((await append(server, server.own('stream'), events, 'no_stream')).nextExpectedRevision, 0n);
      t.is((await idsOf(server.client, server)).length, 1);
    },
  );

  rule(
    'double',
    'a leader that has no quorum for long resigns: nothing leads until it is back',
    async (t) => {
      const { server, double } = await rulesDouble(t, { nodes: 3, times: { electionMs: 50 } });
      await server.append(server.own('stream'));
      const back = double.clusterFaults.loseQuorum({ ms: 600, fate: 'keep', resignMs: 100 });
      await setTimeout(300);
      t.is(double.cluster.leader, undefined);
      await t.throwsAsync(idsOf(clientAt(t, double.port), server), { message: /UNAVAILABLE/ });
      await back;
      t.is((await idsOf(clientAt(t, double.port), server)).length, 1);
    },
  );
}
