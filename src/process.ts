import { parseArgs } from 'node:util';
import { describeSettings, readConfig } from './config.ts';
import { introduce } from './first-start.ts';
import { createLogger } from './logger.ts';
import { lineProgress } from './progress.ts';
import { type Service, startService } from './service.ts';

const HELP = `Starts the deposit service.

  npm start

Settings, from the environment:

${describeSettings()}

SIGTERM and SIGINT let running requests finish, stop the reactors and end with exit code 0.
Exit codes: 0 stopped as asked, 1 a fault, 2 a bad configuration or a data folder in use.
`;

/** Runs the service until it is told to stop; resolves to the exit code. */
export async function main(argv: string[]): Promise<number> {
  const { values } = parseArgs({ args: argv, options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    return await run();
  } catch (error) {
    const known = [
      'BAD_CONFIG',
      'DATA_FOLDER_IN_USE',
      'LOG_DAMAGED',
      'EADDRINUSE',
      'EACCES',
      'EADDRNOTAVAIL',
    ];
    const { code = '', message, stack } = error as NodeJS.ErrnoException;
    process.stderr.write(`${known.includes(code) ? message : stack}\n`);
    return known.includes(code) ? 2 : 1;
  }
}

async function run(): Promise<number> {
  const config = readConfig();
  const logger = createLogger(config.logLevel);
  const stopped = Promise.withResolvers<void>();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stopped.resolve());
  const progress = lineProgress('views built from events');
  await using service: Service = await startService(config, { logger, progress });
  await Promise.race([service.ready, service.failed, stopped.promise]);
  await introduce(service, config);
  try {
    await Promise.race([stopped.promise, service.failed]);
    return 0;
  } catch (error) {
    logger.error({ err: error }, 'the service cannot go on');
    return 1;
  }
}
