import { execFile } from 'node:child_process';
import path from 'node:path';
import { mock } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import test from 'ava';
import { DroppableClient } from '../../../src/event-log/eventstoredb/droppable-client.ts';
import type { EventStoreDbOptions } from '../../../src/event-log/eventstoredb/settings.ts';
import { startClusterNode } from '../cluster-node.ts';

const APPENDER = path.join(import.meta.dirname, 'processes/appender.ts');

test('an append that waits for discovery while its client is dropped does not end the process', async (t) => {
  const connectionString = await startClusterNode(t, {
    leads: async (call) => {
      if (call === 1) await setTimeout(2400);
      return true;
    },
    appends: () => true,
  });
  const options = { connectionString, callTimeout: 800, retryTimeout: 400 };
  const { code, lines, errors } = await appender(options, { streams: 3, linger: 3000 });
  t.is(code, 0, errors);
  t.true(lines.includes('first-0 EVENT_LOG_UNAVAILABLE'), 'it was abandoned during a long discovery');
  t.is(lines.at(-1), 'later appended');
});

test('a discovery that fails together with an earlier call does not end the process', async (t) => {
  let finds = true;
  const connectionString = await startClusterNode(t, {
    leads: () => finds,
    appends: async (call) => {
      finds = call > 2;
      if (call === 2) await setTimeout(200); // by then the client searches for a leader, since the first call failed
      if (call === 2) void setTimeout(2000).then(() => (finds = true));
      return call > 2;
    },
  });
  const options = { connectionString, callTimeout: 5000, retryTimeout: 1200 };
  const { code, lines, errors } = await appender(options, { streams: 2, linger: 1500 });
  t.is(code, 0, errors);
  t.is(lines.at(-1), 'later appended');
});

test("an unhandled rejection of the service's own code ends the process", async (t) => {
  const connectionString = await startClusterNode(t, { leads: () => true, appends: () => true });
  const { code, lines, errors } = await appender(
    { connectionString },
    { streams: 1, linger: 0, env: { SPOILED: 'yes' } },
  );
  t.is(code, 1);
  t.regex(errors, /a defect of our own/);
  t.deepEqual(lines, ['first-0 appended', 'later appended']);
});

test('no warning of the client library repeats the password', (t) => {
  const warn = mock.method(console, 'warn', () => undefined);
  t.teardown(() => warn.mock.restore());
  const { lost } = new DroppableClient('esdb://admin:s3cret@host:1?tlsVerifyCert=false&other=1');
  const warnings = warn.mock.calls.map(({ arguments: texts }) => (texts as unknown[]).join(' '));
  t.false(lost.aborted);
  t.is(warnings.length, 2);
  t.regex(warnings[0] ?? '', /tlsVerifyCert/);
  t.notRegex(warnings.join('\n'), /s3cret/);
});

test('a certificate file that cannot be read is the reason that is given', (t) => {
  const reasonOf = (options: string) =>
    t.throws(() => new DroppableClient(`esdb://admin:s3cret@host:1?${options}`)).message;
  t.regex(reasonOf('tlsCAFile=/nowhere/ca.crt'), /certificate file .* cannot be read \(ENOENT\)\.$/);
  t.regex(reasonOf('userCertFile=/nowhere/user.crt&userKeyFile=/nowhere/user.key'), /\(ENOENT\)\.$/);
  t.regex(reasonOf(`tlsCAFile=${import.meta.dirname}`), /\(EISDIR\)\.$/);
  t.regex(reasonOf('tls=perhaps'), /is not an EventStoreDB connection string/);
});

type Run = {
  readonly streams: number;
  readonly linger: number;
  readonly env?: Readonly<Record<string, string>>;
};

/** Runs a process that appends; resolves to its exit code and output. */
function appender(options: EventStoreDbOptions, { streams, linger, env = {} }: Run) {
  const args = [APPENDER, JSON.stringify(options), `${streams}`, `${linger}`];
  return new Promise<{ code: unknown; lines: string[]; errors: string }>((resolve) => {
    execFile(process.execPath, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, lines: stdout.trim().split('\n').toSorted(), errors: stderr }),
    );
  });
}
