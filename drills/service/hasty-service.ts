import { once } from 'node:events';
import { readConfig } from '../../src/config/read-config.ts';
import { startService } from '../../src/service/service.ts';
import { createLogger } from '../../src/tools/logger.ts';

/** Milliseconds; the defaults of the service are ten minutes and a minute, a quarter of an hour, and 300. */
const TIMES = { unusedFor: 3000, lookEvery: 500 };
const STUCK_AFTER_MS = 5000;
const REACTION_PAUSE_MS = 10;

// The service of this tree with short times: after seconds it deletes groups of older releases, looks for stuck work
// and gives up a missing object.
const config = readConfig();
const eventLog = { ...config.eventLog, ...TIMES };
const logger = createLogger(config.logLevel);
const times = { stuckAfter: STUCK_AFTER_MS, reactionPause: REACTION_PAUSE_MS };
const service = await startService({ ...config, ...times, eventLog }, { logger });
const failed = service.failed.catch((err: unknown) => {
  logger.error({ err }, 'the service cannot continue');
  process.exitCode = 1;
});
await Promise.race([once(process, 'SIGTERM'), failed]);
await service[Symbol.asyncDispose]();
