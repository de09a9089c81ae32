import test from 'ava';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

test('a node whose views are behind accepts metadata for a deposit done on another node, and no other', async (t) => {
  await using nodes = await DistributedNodes.start({ quietTime: 60_000 }); // before a node checks its silent views
  const behind = await nodes.add(['http']);
  const options = { collections: ['software'], providerUrl: 'https://forge.example/code' };
  const alice = await behind.register('alice', options);
  const bob = await behind.register('bob', options);
  nodes.double.dropSubscriptions('silence');
  const ahead = await nodes.add(['http', 'reactors']);

  const form = new Uint8Array(formOf([archivePart(), entryPart()]));
  const created = await alice.post(`${ahead.url}/1/software/`, form, { ...formType, ...final });
  const edit = new URL(created.headers.get('location') ?? '').pathname;
  const status = await alice.waitFor(`${ahead.url}${edit.replace('metadata/', 'status/')}`, 'done');
  const context = /<deposit_swh_id_context>([^<]+)</.exec(status)?.[1] ?? '';
  const [swhid = ''] = context.split(';');

  const about = (reference: string) =>
    entryXml(
      `<title>T</title><author><name>A</name></author><d:reference><d:object swhid="${reference}"/></d:reference>`,
    );
  const describe = (client: typeof alice, reference: string) =>
    client.post('/1/software/', about(reference), { ...entryHeaders(), ...final });
  for (const reference of [swhid, context]) {
    const described = await describe(alice, reference);
    t.is(described.status, 201, await described.text());
  }
  await assertSwordError(t, await describe(bob, context), 400, 'ErrorBadRequest');
  const unknown = await describe(alice, `swh:1:rev:${'0'.repeat(40)}`);
  await assertSwordError(t, unknown, 400, 'ErrorBadRequest');

  const better = entryXml('<title>T</title><author><name>A</name></author>');
  const checking = { ...entryHeaders(), 'X-Check-SWHID': swhid };
  t.is(
    (await alice.put(edit, better, checking)).status,
    204,
    'a deposit done on another node is updated here',
  );
});
