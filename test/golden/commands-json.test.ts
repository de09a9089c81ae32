import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { CLOCK_OF_NODE } from '../../src/tools/clock.ts';
import { runInWorld } from '../../src/tools/outside-world.ts';
import {
  archivePart,
  entryHeaders,
  entryPart,
  entryXml,
  final,
  formOf,
  formType,
  helloEntry,
  partial,
} from '../../testing/http/deposit-bodies.ts';
import { runScript } from '../../testing/processes/run-script.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';
import { RunningService } from '../../testing/service/running-service.ts';
import { assertGolden } from './golden-file.ts';

const NOW = Date.parse('2026-03-01T10:00:00.000Z');

/** Commands in the order in which they run. `<out>` is a folder for their files, `>` names the data folder if it is another. */
const CALLS = [
  'status --json',
  'deposits --json',
  'history 2 --json',
  'history 3 --at 0 --json',
  'history 99 --json',
  'history client:alice --json',
  'client show alice --json',
  'collection show software --json',
  'parked list --json',
  'groups create --json',
  'gc --older-than 1h --remove --json',
  'expire --older-than 0d --json',
  'retry --stuck --json',
  'retry 1 99 --json',
  'rebuild --all --check --json',
  'anchor --json',
  'verify --all --json',
  'verify 1 --json',
  'backup <out>/backup --init --verify --json',
  'restore <out>/backup --verify --json > restored',
  'restore <out>/missing --json > other',
  'export --stream collection-software',
  'export --output <out>/export.ndjson',
  'import <out>/export.ndjson > imported',
  'migrate --from file:<data>/archives --to file:<out>/archives --verify --json',
  'bind --json',
] as const;

test('exit codes and output of commands on a data folder match the transcript', async (t) => {
  t.timeout(300_000);
  const out = await temporaryFolder(t);
  const clock = { ...CLOCK_OF_NODE, now: () => NOW, date: () => new Date(NOW) };
  const data = await runInWorld({ clock }, () => dataFolder(t));
  const inPlace = (text: string) => text.replaceAll('<out>', out).replaceAll('<data>', data);
  const parts = [];
  for (const call of CALLS) {
    const [line = '', folder] = call.split(' > ');
    const [command = '', ...args] = line.split(' ').map(inPlace);
    const dataDir = folder === undefined ? data : path.join(out, folder);
    const ran = await runScript(dataDir, command, args, { env: { DEPOSIT_OPERATOR: 'rosa' } });
    const mask = (text: string) => masked(text.replaceAll(out, '<out>').replaceAll(data, '<data>'));
    parts.push(`# ${call}: ${ran.code}\n${mask(ran.out)}${mask(ran.err)}`);
  }
  await assertGolden(t, 'commands-json.txt', parts.join('\n'));
});

/** Makes a data folder with a deposit that is done, a rejected one and a partial one. */
async function dataFolder(t: ExecutionContext): Promise<string> {
  const service = await RunningService.start({ baseUrl: 'https://deposit.example' });
  t.teardown(() => service[Symbol.asyncDispose]());
  const alice = await service.register('alice', { collections: ['software'] });
  const deposit = async (entry: ReturnType<typeof entryPart>, id: number, status: string) => {
    await alice.post('/1/software/', formOf([archivePart(), entry]), { ...formType, ...final });
    await alice.waitFor(`/1/software/${id}/status/`, status);
  };
  await deposit(entryPart(), 1, 'done');
  await deposit(entryPart(entryXml('<title>Without an author</title>')), 2, 'rejected');
  await alice.post('/1/software/', helloEntry, { ...entryHeaders(), ...partial });
  await service.stop();
  return service.folder;
}

/** Returns output with what differs in each run replaced, and every object of JSON as lines. */
function masked(output: string): string {
  return output
    .split('\n')
    .map((line) => (/^[{[]/.test(line) ? JSON.stringify(JSON.parse(line), maskedValue, 1) : maskedText(line)))
    .join('\n');
}

function maskedValue(key: string, value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value);
  return typeof value === 'number' && MEASURED.test(key) ? '<number>' : value;
}

/** Names of numbers that no clock of ours decides, or that are of the drive. */
const MEASURED = /(seconds|free_bytes)$/i;

function maskedText(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g, '<time>')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/\b[\da-f]{64}\b/g, '<digest>')
    .replaceAll(/[\w+/]{86}==/g, '<signature>')
    .replaceAll(/MCowBQYDK2VwAyEA[\w+/]{43}=/g, '<public key>');
}
