import { ConsoleSession, linkFor, ownHeaders } from '../../../testing/browser/sign-in.ts';
import { testOfService } from '../../../testing/service/test-of-service.ts';

const test = testOfService({ alice: { collections: ['software'] }, bob: { collections: ['software'] } });

test('a link signs in once', async (t) => {
  const { service } = t.context;
  const link = new URL(await linkFor(service, 'auditor'));
  const redeem = (code: string) =>
    fetch(new URL('/console/enter', service.url), {
      method: 'POST',
      headers: ownHeaders(service.url),
      body: JSON.stringify({ code }),
    });
  t.is((await redeem('x')).status, 401);
  const first = await redeem(link.hash.slice(1));
  t.is(first.status, 204);
  t.regex(first.headers.getSetCookie()[0] ?? '', /^deposit-console=\S+; Path=\/; HttpOnly; SameSite=Strict$/);
  t.is((await redeem(link.hash.slice(1))).status, 401);
});

test('all sessions of a person end by an event', async (t) => {
  const { service } = t.context;
  const [one, other] = [
    await ConsoleSession.begin(service, 'auditor'),
    await ConsoleSession.begin(service, 'auditor'),
  ];
  t.is((await one.get('/console/api/overview')).status, 200);
  t.is((await one.post('/console/api/end-sessions')).status, 204);
  t.is((await other.get('/console/api/overview')).status, 401);
  t.is((await other.get('/console/')).headers.get('Location'), '/console/sign-in?to=%2Fconsole%2F');
});
