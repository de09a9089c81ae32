import { once } from 'node:events';
import { createServer } from 'node:http';
import test from 'ava';
import { NotStarted, ServiceProcess } from '../../drills/service/service-process.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

test('the answers of another server on its port are not taken for those of a service that is started', async (t) => {
  const port = await freePort();
  const other = createServer((_, response) => response.end('ready')).listen(port, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  await t.throwsAsync(ServiceProcess.start(await temporaryFolder(t), port), {
    instanceOf: NotStarted,
    message: /another process listens there/,
  });
});
