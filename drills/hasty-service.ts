import { once } from 'node:events';
import { readConfig } from '../src/config.ts';
import { createLogger } from '../src/logger.ts';
import { startService } from '../src/service.ts';

/** In milliseconds: ten minutes and a minute, and a quarter of an hour, in a service of users. */
const TIMES = { unusedFor: 3000, lookEvery: 500 };
const STUCK_AFTER_MS = 5000;

// The service of this tree as a program that deletes groups of older releases, and looks for stuck work, after seconds.
const config = readConfig();
const eventLog = { ...config.eventLog, ...TIMES };
const logger = createLogger(config.logLevel);
const service = await startService({ ...config, eventLog, stuckAfter: STUCK_AFTER_MS }, { logger });
const failed = service.failed.catch((err: unknown) => {
  logger.error({ err }, 'the service cannot go on');
  process.exitCode = 1;
});
await Promise.race([once(process, 'SIGTERM'), failed]);
await service[Symbol.asyncDispose]();
