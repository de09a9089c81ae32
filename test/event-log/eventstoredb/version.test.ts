import { setTimeout } from 'node:timers/promises';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featureMessages from '@eventstore/db-client/generated/serverfeatures_pb.js';
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import test, { type ExecutionContext } from 'ava';
import { EventStoreDbEventLog } from '../../../src/event-log/eventstoredb/eventstoredb-event-log.ts';
import { pinnedIsUnsafe, versionWarning } from '../../../src/event-log/eventstoredb/server-version.ts';
import { warnOfLogServer } from '../../../src/service/log-server-warning.ts';
import { keptLines } from '../../../testing/service/kept-lines.ts';
import { eventually } from '../log-on-double.ts';

test('the server versions with lost events in groups are known', (t) => {
  const unsafe = ['22.10.5', '23.10.1', '24.6.0', '24.10.0', '24.10.13', '24.10.13.1234', 'v24.10.13'];
  const later = ['25.0.0', '25.1.7', '26.0.0', '26.0.2', '26.0.2-rc.1', 'unknown', ''];
  for (const version of [...unsafe, ...later]) t.true(pinnedIsUnsafe(version), version);
  const safe = ['24.10.14', '24.10.15', '26.0.3', '26.0.3.4567', '26.1.0', '26.2.0-alpha', '27.0.0'];
  for (const version of safe) t.false(pinnedIsUnsafe(version), version);
  t.is(
    versionWarning('24.10.13'),
    'EventStoreDB 24.10.13 may lose deliveries: upgrade to 24.10.14, 26.0.3, 26.1.0 or newer.',
  );
  t.is(versionWarning('26.0.3'), undefined);
});

test('the log reports the version of its server', async (t) => {
  const { connectionString } = await serverOf(t, () => '26.0.3');
  await using log = await EventStoreDbEventLog.open({ connectionString });
  t.is(await log.serverVersion(), '26.0.3');
});

test('a node warns once, and only if the server has the defect', async (t) => {
  const [unsafe, safe] = [keptLines(), keptLines()];
  const old = await serverOf(t, () => '24.10.13');
  using _first = warnOfLogServer({ eventLog: old }, unsafe.logger);
  await eventually(() => unsafe.lines.length > 0);
  t.like(unsafe.lines[0], {
    level: 'warn',
    msg: 'the event log server has a known defect',
    reason: versionWarning('24.10.13'),
  });
  let asked = 0;
  const current = await serverOf(t, () => {
    asked += 1;
    return '24.10.14';
  });
  using _second = warnOfLogServer({ eventLog: current }, safe.logger);
  await eventually(() => asked === 1);
  using _third = warnOfLogServer(
    { eventLog: { kind: 'sqlite', file: '/nowhere/events.sqlite' } },
    safe.logger,
  );
  await setTimeout(200);
  t.is(unsafe.lines.length, 1);
  t.deepEqual(safe.lines, []);
});

async function serverOf(t: ExecutionContext, version: () => string) {
  const server = new Server();
  const features = {
    getSupportedMethods: (_: unknown, answer: sendUnaryData<SupportedMethods>) =>
      answer(null, new featureMessages.SupportedMethods().setEventStoreServerVersion(version())),
  };
  server.addService(featureServices.ServerFeaturesService, features satisfies UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  t.teardown(() => server.forceShutdown());
  return { kind: 'eventstoredb', connectionString: `esdb://127.0.0.1:${port}?tls=false` } as const;
}
