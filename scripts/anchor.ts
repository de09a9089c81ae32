import { createPublicKey } from 'node:crypto';
import path from 'node:path';
import { type Config, readConfig } from '../src/config/config.ts';
import { pluralize } from '../src/domain/description.ts';
import { anchorKey, publicAnchorKey } from '../src/modules/anchors/anchor-key.ts';
import { Anchorer } from '../src/modules/anchors/anchorer.ts';
import { readOptions, runCommand, say, UsageError, warn } from '../src/operations/command/command.ts';
import { openServiceLog } from '../src/operations/command/service-engines.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';

const HELP = `Makes an anchor: a signed statement of everything that the log holds at this moment.

  npm run anchor -- [--file FILE] [--json]
  npm run -s anchor -- --public-key > anchor-key.pem

The anchor goes into the log and, as a line, into FILE (default: DEPOSIT_ANCHOR_FILE). Keep that file and the public
key where nobody who can write to the log can write: "npm run verify -- --anchors FILE --key anchor-key.pem" then
proves that nothing of what was there was removed or rewritten. Nothing is made when nothing has come since the last.
The service makes them by itself every DEPOSIT_ANCHOR_INTERVAL minutes.

The key is in DEPOSIT_ANCHOR_KEY_FILE and made when it is not there.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.
`;

await runCommand(
  HELP,
  async (args) => {
    const values = readOptions(args, {
      file: { type: 'string' },
      'public-key': { type: 'boolean' },
      json: { type: 'boolean' },
    });
    const { 'public-key': publicKey, ...others } = values;
    const [foreign] = publicKey ? Object.keys(others) : [];
    if (foreign !== undefined) throw new UsageError(`--public-key takes no --${foreign}.`);
    const config = readConfig();
    const { eventLog, dataDir } = config;
    if (eventLog.kind === 'sqlite') assertExists('data folder', dataDir); // a new folder would get a key of its own
    if (publicKey) return await printPublicKey(config);
    const anchorFile = values.file === undefined ? config.anchorFile : path.resolve(values.file);
    await using log = await openServiceLog(config);
    const { anchor, made, written } = await new Anchorer(log, { ...config, anchorFile }).anchor();
    if (values.json) {
      say(JSON.stringify({ made, written, anchorFile, anchor }));
      return;
    }
    const kept =
      anchorFile === null ? 'It is in the log alone.' : `Lines added to ${anchorFile}: ${written}.`;
    say(
      `${made ? 'Made an anchor over' : 'Nothing has come since the anchor over'} ${pluralize(anchor.events, 'event')}, root ${anchor.root}.\n${kept}`,
    );
  },
  { mayBeBare: true },
);

/** Prints the public key. Creates the key if it is missing, as the first anchor does: the service exists already. */
async function printPublicKey(config: Config): Promise<void> {
  const { anchorKeyFile } = config;
  const there = await publicAnchorKey(anchorKeyFile);
  if (!there) {
    await using _log = await openServiceLog(config);
    await anchorKey(anchorKeyFile);
    warn(`There was no key yet: made ${anchorKeyFile}.`);
  }
  const key = there ?? createPublicKey(await anchorKey(anchorKeyFile));
  process.stdout.write(key.export({ type: 'spki', format: 'pem' }));
}
