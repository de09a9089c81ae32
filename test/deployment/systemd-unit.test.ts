import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { readConfig, readServiceConfig } from '../../src/config/read-config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { temporaryFolder } from '../../testing/processes/temporary-folder.ts';

const file = path.join(import.meta.dirname, '../../deploy/deposit.service');
const NODE = '/opt/deposit/node_modules/.bin/node';

const unit = await readFile(file, 'utf8');
const page = await readFile(path.join(import.meta.dirname, '../../docs/deployment.md'), 'utf8');

/** Returns the values of a directive: the last one; of `Environment` and filters, all of them. */
function saidBy(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

const analyze = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
const version = Number(/^systemd (\d+)/.exec(analyze.stdout ?? '')?.[1] ?? 0);
/** systemd 250 knows all directives of the unit, and checks files without a running systemd. */
const judged = version >= 250 ? test : test.skip;
const unless = version >= 250 ? '' : ` (not looked at: systemd-analyze is ${version || 'missing'}, not 250)`;

judged(`systemd finds no fault in the unit, and hardly any exposure${unless}`, async (t) => {
  const folder = await unitFolder(t);
  const analyzed = (...args: string[]): Promise<{ stdout: string; stderr: string }> =>
    promisify(execFile)('systemd-analyze', [...args, path.join(folder, 'deposit.service')], {
      env: { ...process.env, SYSTEMD_PAGER: '', SYSTEMD_COLORS: '0' },
    });
  const verified = await analyzed('verify');
  const own = `${verified.stdout}${verified.stderr}`
    .split('\n')
    .filter((line) => line.includes('deposit.service'));
  t.deepEqual(own, []);
  const { stdout } = await analyzed('security', '--offline=true', '--threshold=15'); // tenths; rejects above
  t.regex(stdout, /Overall exposure level for deposit\.service: 1\.[0-5] OK/);
});

/** Resolves to a folder of the unit with an existing program. */
async function unitFolder(t: ExecutionContext): Promise<string> {
  const folder = await temporaryFolder(t);
  await writeFile(path.join(folder, 'deposit.service'), unit.replace(NODE, process.execPath));
  return folder;
}

test('the unit starts the service with known settings, in private folders made by systemd', (t) => {
  t.deepEqual(saidBy('ExecStart'), [`${NODE} src/main.ts`]);
  const settings = saidBy('Environment').map((line) => line.split('=', 2) as [string, string]);
  const config = readServiceConfig(Object.fromEntries(settings));
  t.like(config, { host: '127.0.0.1', port: 8080, trustProxy: true });
  t.is(config.dataDir, path.resolve('%S/deposit'));
  t.deepEqual([saidBy('StateDirectory'), saidBy('StateDirectoryMode')], [['deposit'], ['0700']]);
  t.deepEqual([saidBy('CacheDirectory'), saidBy('CacheDirectoryMode')], [['deposit'], ['0700']]);
  t.true(Number(saidBy('TimeoutStopSec')[0]) >= 40, 'requests get 20 seconds, checks 3, traces 10');
  t.deepEqual(saidBy('RestartPreventExitStatus'), ['2']);
  t.deepEqual([saidBy('Restart'), saidBy('StartLimitIntervalSec')], [['on-failure'], ['0']]);
  t.deepEqual(
    [saidBy('MemorySwapMax'), saidBy('MemoryHigh')],
    [['0'], []],
    'aborted at the limit, not slowed down',
  );
});

test('the unit passes secrets as credentials, for settings that name files', (t) => {
  const offered = [...unit.matchAll(/^#LoadCredential=([\w-]+):\S+$/gm)].map(([, name]) => name);
  const read = [...unit.matchAll(/(DEPOSIT_\w+)=%d\/([\w-]+)/g)].map(([, setting = '', name]) => ({
    setting,
    name,
  }));
  t.deepEqual(
    read.map(({ name }) => name),
    offered,
  );
  for (const { setting } of read) t.true(setting in SETTINGS && /_FILE$|_TLS_/.test(setting), setting);
  t.notRegex(unit, /(PASSWORD|SECRET_KEY|ACCESS_KEY|EVENT_LOG)=(?!%d)/);
});

test('commands run as documented accept a settings file that opens the service behind the proxy or TLS of its unit', (t) => {
  const recipe = /^systemd-run [^]*?^```$/m.exec(page)?.[0] ?? '';
  const given = [...recipe.matchAll(/--setenv=(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const file = { DEPOSIT_CONSOLE: 'public', DEPOSIT_HOST: '0.0.0.0', DEPOSIT_OPERATOR_HOST: '0.0.0.0' };
  const config = readConfig({ ...Object.fromEntries(given), ...file });
  t.like(config, { dataDir: '/var/lib/deposit', console: 'public', host: '0.0.0.0', tls: null });
  t.throws(() => readServiceConfig(file), {
    message: /DEPOSIT_HOST=0[^]*DEPOSIT_OPERATOR_HOST=0[^]*DEPOSIT_CONSOLE=public/,
  });
});

test('the unit offers TLS by the service itself', (t) => {
  const offered = [...unit.matchAll(/^#Environment=(.*)$/gm)].flatMap(([, said = '']) => said.split(' '));
  const settings = Object.fromEntries(offered.map((line) => line.split('=', 2) as [string, string]));
  t.like(settings, { DEPOSIT_TLS_CERT: '%d/tls-cert', DEPOSIT_HOST: '::', DEPOSIT_TRUST_PROXY: 'false' });
});
