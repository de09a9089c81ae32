import test from 'ava';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { EXCHANGES } from './exchanges.ts';
import { assertGolden } from './golden-file.ts';
import { Transcript } from './transcript.ts';

const NOW = Date.parse('2026-03-01T10:00:00.000Z');
const SETTINGS = { baseUrl: 'https://deposit.example', maxUploadSize: 60_000 };

test('the responses to all requests match the transcript', async (t) => {
  const clock = { ...CLOCK_OF_NODE, now: () => NOW, date: () => new Date(NOW) };
  const text = await runInWorld({ clock }, async () => {
    await using service = await RunningService.start(SETTINGS);
    const alice = await service.register('alice', { collections: ['software'] });
    await service.register('bob', { collections: ['other'] });
    const transcript = new Transcript(service.url);
    for (const exchange of EXCHANGES) {
      const { after } = exchange;
      if (after) await alice.waitFor(`/1/software/${after.deposit}/status/`, after.status);
      await transcript.add(exchange);
    }
    return transcript.text;
  });
  await assertGolden(t, 'http.txt', text);
});
