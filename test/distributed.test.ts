import test from 'ava';
import { parseS3Url } from '../src/archive-store/s3-url.ts';
import type { Config } from '../src/config.ts';
import { archivePart, entryPart, formOf, formType } from './support/deposit-bodies.ts';
import { EventStoreDbDouble } from './support/eventstoredb-double/eventstoredb-double.ts';
import { RunningService } from './support/running-service.ts';
import { S3Server } from './support/s3-server.ts';

test('on EventStoreDB and S3 two nodes share the work: each deposit is done once, and known on both at once', async (t) => {
  await using engines = new AsyncDisposableStack();
  const double = engines.use(await EventStoreDbDouble.start());
  const s3 = engines.use(await S3Server.start());
  const { accessKey, secretKey } = s3.options;
  const place = parseS3Url(`s3://127.0.0.1:${s3.port}/deposits?tls=false`);
  const overrides: Partial<Config> = {
    eventLog: { kind: 'eventstoredb', connectionString: double.connectionString },
    archiveStore: { kind: 's3', ...place, accessKey, secretKey },
  };
  const one = engines.use(await RunningService.start(overrides));
  const other = engines.use(await RunningService.start(overrides));
  const alice = await one.register('alice', { collections: ['software'] });
  const elsewhere = (iri: string): string => iri.replace(one.url, other.url);

  const body = new Uint8Array(formOf([archivePart(), entryPart()]));
  const locations = await Promise.all(
    Array.from({ length: 12 }, async () => {
      const created = await alice.post('/1/software/', body, formType);
      t.is(created.status, 201);
      const status = (created.headers.get('location') ?? '').replace('/metadata/', '/status/');
      t.is((await alice.get(elsewhere(status))).status, 201, 'no false 404 on the other node');
      return status;
    }),
  );
  t.is(new Set(locations).size, 12);
  for (const status of locations) await alice.waitFor(elsewhere(status), 'done');
  const loaded = await Array.fromAsync(one.service.log.readAll({ streamPrefixes: ['deposit-'] }));
  t.is(loaded.filter(({ type }) => type === 'DepositLoaded').length, 12, 'each was loaded once');
});
