import { createPublicKey } from 'node:crypto';
import path from 'node:path';
import type { Config } from '../src/config/config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { pluralize } from '../src/domain/description.ts';
import { anchorKey, publicAnchorKey } from '../src/modules/anchors/anchor-key.ts';
import { makeAnchor } from '../src/modules/anchors/make-anchor.ts';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand, UsageError } from '../src/operations/command/command.ts';
import { jsonLine, say, warn } from '../src/operations/command/output.ts';
import { openServiceLog } from '../src/operations/command/service-engines.ts';
import { assertExists } from '../src/service/backends/backend-not-found.ts';

const HELP = `Creates an anchor: a signed statement about everything in the event log at this moment.

Usage: deposit-service anchor [--file FILE] [--json]
       deposit-service anchor --public-key > anchor-key.pem

The anchor is appended to the log and written as a line to FILE (default: DEPOSIT_ANCHOR_FILE). Store that file and the
public key out of reach of everyone who can write to the log. "deposit-service verify --anchors FILE --key anchor-key.pem"
then proves that nothing was removed or rewritten. No anchor is created if the log has no new event. The service creates
them by itself every DEPOSIT_ANCHOR_INTERVAL minutes. The key is in DEPOSIT_ANCHOR_KEY_FILE; it is created if missing.

Example: deposit-service anchor --file /mnt/elsewhere/anchors.ndjson
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
    if (foreign !== undefined) throw new UsageError(`--public-key cannot be combined with --${foreign}.`);
    const config = readConfig();
    const { eventLog, dataDir } = config;
    if (eventLog.kind === 'sqlite') assertExists('data folder', dataDir); // a new folder would get a key of its own
    if (publicKey) return await printPublicKey(config);
    const anchorFile = values.file === undefined ? config.anchorFile : path.resolve(values.file);
    await using log = await openServiceLog(config);
    const { anchor, made, written } = await makeAnchor(log, { ...config, anchorFile });
    if (values.json) {
      say(jsonLine({ made, written, anchorFile, anchor }));
      return;
    }
    const kept =
      anchorFile === null ? 'It is stored only in the log.' : `Lines added to ${anchorFile}: ${written}.`;
    say(
      `${made ? 'Made an anchor over' : 'No new events since the anchor over'} ${pluralize(anchor.events, 'event')}, root ${anchor.root}.\n${kept}`,
    );
  },
  { mayBeBare: true },
);

/** Prints the public key. Creates the key if it is missing, as the first anchor does: the service already exists. */
async function printPublicKey(config: Config): Promise<void> {
  const { anchorKeyFile } = config;
  const there = await publicAnchorKey(anchorKeyFile);
  if (!there) {
    await using _log = await openServiceLog(config);
    await anchorKey(anchorKeyFile);
    warn(`Created the key ${anchorKeyFile}.`);
  }
  const key = there ?? createPublicKey(await anchorKey(anchorKeyFile));
  process.stdout.write(key.export({ type: 'spki', format: 'pem' }));
}
