import test from 'ava';
import { readList } from '../../testing/documents/listed-deposits.ts';
import { assertSwordError } from '../../testing/documents/sword-error.ts';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { DistributedNodes } from '../../testing/service/distributed-nodes.ts';

const ORIGIN = 'https://forge.example/code/paint';

function form(relation: string, origin: string): Uint8Array<ArrayBuffer> {
  const named = `<d:${relation}><d:origin url="${origin}"/></d:${relation}>`;
  const xml = entryXml(`<title>Paint</title><author><name>Ada</name></author>${named}`);
  return new Uint8Array(formOf([archivePart(), entryPart(xml)]));
}

test('a node whose views are behind accepts a version of an origin done on another node, and of no other', async (t) => {
  await using nodes = await DistributedNodes.start({ quietTime: 60_000 }); // before a node checks its silent views
  const behind = await nodes.add(['http']);
  const options = { collections: ['software'], providerUrl: 'https://forge.example/code' };
  const alice = await behind.register('alice', options);
  nodes.double.dropSubscriptions('silence');
  const ahead = await nodes.add(['http', 'reactors']);

  const first = form('create_origin', ORIGIN);
  const created = await alice.post(`${ahead.url}/1/software/`, first, { ...formType, ...final });
  await alice.waitFor(created.headers.get('location')?.replace('metadata/', 'status/') ?? '', 'done');
  t.is((await readList(await alice.get('/1/software/'))).count, '0', 'its views do not have it');
  const headers = { ...formType, ...partial };
  const added = await alice.post('/1/software/', form('add_to_origin', ORIGIN), headers);
  t.is(added.status, 201, await added.text());
  const unknown = await alice.post('/1/software/', form('add_to_origin', `${ORIGIN}2`), headers);
  await assertSwordError(t, unknown, 404, 'NotFound');
});
