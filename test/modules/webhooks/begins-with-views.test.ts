import test from 'ava';
import { CatchUpDeliveries } from '../../../src/event-log/consumer-groups/catch-up-deliveries.ts';
import { NotificationService } from '../../../src/modules/webhooks/notification-service.ts';
import { EventLogParking } from '../../../src/reactors/parking.ts';
import { notificationViews } from '../../../src/reactors/sweep/notification-views.ts';
import { silentLogger } from '../../../src/tools/logger.ts';
import { Projector } from '../../../src/views/projector.ts';
import { SqliteViewStore } from '../../../src/views/store/sqlite-view-store.ts';
import { MemoryEventLog } from '../../../testing/event-log/memory-event-log.ts';
import { temporaryFolder } from '../../../testing/processes/temporary-folder.ts';
import { until } from '../../../testing/processes/until.ts';

test('the notifier receives events only once the views of its node are ready', async (t) => {
  const folder = await temporaryFolder(t);
  await using log = new MemoryEventLog();
  using views = new SqliteViewStore(folder, 'memory');
  const projector = new Projector(log, views);
  const notified = notificationViews(projector);
  const deliveries = new CatchUpDeliveries(log, folder);
  const received: string[] = [];
  const { promise: ready, resolve: viewsAreReady } = Promise.withResolvers<void>();
  await using service = new NotificationService({
    log,
    deliveries: Object.assign(Object.create(deliveries), {
      receive: (...args: Parameters<CatchUpDeliveries['receive']>) => {
        received.push(args[0]);
        return deliveries.receive(...args);
      },
    }),
    parking: new EventLogParking(log),
    projector,
    notified,
    logger: silentLogger,
    baseUrl: 'http://deposit.example',
    maker: { name: 'test', version: '1' },
    config: {
      webhooks: {
        keyFile: `${folder}/webhook.key`,
        allowPrivate: true,
        giveUpAfter: 1000,
        firstPause: 20,
        longestPause: 200,
      },
      refIdAliases: true,
      reactionPause: 20,
    },
    ready,
    observed: (reactor) => reactor,
    fail: (error) => t.fail(String(error)),
  });
  await projector.start((error) => t.fail(String(error)));
  t.deepEqual(received, []);
  viewsAreReady();
  await until(async () => received.includes(service.status.notifier.name));
  await service[Symbol.asyncDispose]();
  await projector.stop();
});
