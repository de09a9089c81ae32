import test from 'ava';
import { BadConfig, describeSettings, readServiceConfig } from '../../src/config/read-config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { assertGolden } from './golden-file.ts';

const VALUES = ['nonsense', '-1', '1', 'http://example.org/?query'];
const COMBINATIONS: readonly Readonly<Record<string, string>>[] = [
  { DEPOSIT_UNKNOWN: '1', DEPOSIT_PORT: '0', DEPOSIT_LOG_LEVEL: 'loud' },
  { DEPOSIT_EVENT_LOG: 'esdb://admin:changeit@log.example:2113' },
  { DEPOSIT_ARCHIVE_STORE: 's3://store.example/deposits' },
  { DEPOSIT_ROLES: 'http' },
  { DEPOSIT_TLS_CERT: '/nowhere/cert.pem' },
  { DEPOSIT_HOST: '0.0.0.0' },
  { DEPOSIT_OPERATOR_HOST: '0.0.0.0' },
  { DEPOSIT_MAX_ENTRY_SIZE: '2000', DEPOSIT_MAX_UPLOAD_SIZE: '1000' },
  { DEPOSIT_MAX_RESUMABLE_SIZE: '1000', DEPOSIT_MAX_OPEN_UPLOADS_SIZE: '10' },
  { OTEL_EXPORTER_OTLP_ENDPOINT: 'nonsense' },
];

/** Returns the problems of an environment, without the folder in which the tests run. */
function problemsOf(env: Readonly<Record<string, string>>): string {
  const title = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  try {
    readServiceConfig({ USER: 'tester', ...env });
    return `# ${title.join(' ')}\naccepted\n`;
  } catch (error) {
    if (!(error instanceof BadConfig)) throw error;
    return `# ${title.join(' ')}\n${error.message.replaceAll(process.cwd(), '<folder>')}\n`;
  }
}

test('settings, their defaults and meanings, and the problems of invalid values match the transcript', async (t) => {
  const single = Object.keys(SETTINGS).flatMap((name) => VALUES.map((value) => ({ [name]: value })));
  const problems = [...single, ...COMBINATIONS].map(problemsOf);
  await assertGolden(t, 'settings.txt', `${describeSettings()}\n\n${problems.join('\n')}`);
});
