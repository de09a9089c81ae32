import { registerHooks } from 'node:module';
import test from 'ava';
import { entryHeaders, helloEntry } from '../../testing/http/deposit-bodies.ts';
import { RunningService } from '../../testing/service/running-service.ts';

test('an entry is answered 503 while its parser cannot be loaded, and accepted later', async (t) => {
  let isPossible = false;
  registerHooks({
    resolve: (name, context, next) => {
      if (name !== 'koa-body' || isPossible) return next(name, context);
      throw Object.assign(new Error('too many open files.'), { code: 'ERR_INVALID_PACKAGE_CONFIG' });
    },
  });
  await using service = await RunningService.start();
  const alice = await service.register('alice', { collections: ['software'] });
  const refused = await alice.post('/1/software/', helloEntry, entryHeaders());
  t.is(refused.status, 503);
  t.is(refused.headers.get('Retry-After'), '5');
  t.regex(await refused.text(), />The service cannot read entries at the moment: try again later\.</);
  isPossible = true;
  t.is((await alice.post('/1/software/', helloEntry, entryHeaders())).status, 201);
});
