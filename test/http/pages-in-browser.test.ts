import { consoleTests } from '../../testing/browser/console-tests.ts';
import {
  archivePart,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
} from '../../testing/http/deposit-bodies.ts';
import { pathOf } from '../../testing/http/made-deposits.ts';
import type { TestClient } from '../../testing/http/test-client.ts';

const test = consoleTests({ alice: { collections: ['software'], domain: 'alice.example' } });
const LONG_TITLE = `Paint ${'and a word without end'.replaceAll(' ', '')}${'x'.repeat(80)}`;

/** Makes a deposit that is done and one that is rejected; resolves to the paths of all kinds of pages. */
async function pagesOf(alice: TestClient): Promise<readonly string[]> {
  const url = '<codemeta:url>https://alice.example/paint</codemeta:url>';
  const entry = entryXml(`<title>${LONG_TITLE}</title><author><name>Ada</name></author>${url}`);
  const deposit = async (...parts: Parameters<typeof formOf>[0]): Promise<string> => {
    const answer = await alice.post('/1/software/', formOf(parts), { ...formType, ...final });
    return pathOf(answer);
  };
  const [done, rejected] = [await deposit(archivePart(), entryPart(entry)), await deposit(archivePart())];
  const status = await alice.waitFor(`${done}status/`, 'done');
  await alice.waitFor(`${rejected}status/`, 'rejected');
  const [swhid] = /swh:1:dir:[0-9a-f]{40}/.exec(status) ?? [];
  const ofADeposit = ['status/', 'metadata/', 'content/', 'history/', 'statement/', 'media/feed/'];
  const others = `/ /openapi.json /health/ready /1/servicedocument/ /1/servicedocument/software/ /1/software/
    /1/software/?status=rejected /1/software/notifications/ /1/resolve/${swhid}/
    /1/software/99/status/ /1/nothing/ /1/software/?status=none`;
  return [
    ...others.split(/\s+/),
    ...[done, rejected].flatMap((iri) => ofADeposit.map((end) => `${iri}${end}`)),
  ];
}

for (const scheme of ['light', 'dark'] as const)
  for (const width of [1280, 360])
    test(`axe finds no violation on any page in ${scheme} at ${width} px, and no page is wider`, async (t, open) => {
      const { alice, service } = t.context;
      const httpCredentials = { username: 'alice', password: 'secret' };
      const tab = await open({ httpCredentials, scheme, width });
      for (const path of await pagesOf(alice)) {
        const answer = await tab.page.goto(new URL(path, service.url).href);
        t.is(answer?.headers()['content-type'], 'text/html; charset=utf-8', path);
        t.deepEqual(await tab.accessibilityFaults(), [], path);
        t.true((await tab.overflow()) <= 0, path);
      }
      tab.forgive(/status of 40[04]/); // of pages that describe an error
    });
