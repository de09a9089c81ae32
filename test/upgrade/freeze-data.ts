import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { COMMITS } from './fixture.ts';
import { freezeDistributed } from './freezing/freeze-distributed.ts';
import { freezeEmbedded } from './freezing/freeze-embedded.ts';
import { freezeStuck } from './freezing/freeze-stuck.ts';
import { OldRelease } from './freezing/old-release.ts';

const HELP = `Makes the fixtures of the upgrade tests, with the code of commit COMMIT: ${COMMITS.join(' or ')}.

  git worktree add --detach ../old COMMIT && (cd ../old && npm ci)
  node test/upgrade/freeze-data.ts ../old [--only embedded|distributed|stuck]

Everything is made by that checkout: its services, its commands, its reactors, its doubles of the engines. This tree
brings the clients, the order of steps and the kills, and for \`stuck\` the double of EventStoreDB, since that of the
checkout loses no event. The result is in test/fixtures/COMMIT. No two runs give the same
ids and times, so run it again only if the fixtures have to hold something else.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h' }, only: { type: 'string' } },
});
const [checkout] = positionals;
if (values.help || checkout === undefined) {
  process.stdout.write(HELP);
  process.exit(values.help ? 0 : 2);
}
const KINDS = { embedded: freezeEmbedded, distributed: freezeDistributed, stuck: freezeStuck };
const release = new OldRelease(checkout);
const target = path.join(import.meta.dirname, '..', 'fixtures', release.commit);
const scratch = await mkdtemp(path.join(tmpdir(), 'freeze-'));
try {
  for (const [name, freeze] of Object.entries(KINDS)) {
    if (values.only === undefined || values.only === name)
      await freeze(release, scratch, path.join(target, name));
  }
} finally {
  await rm(scratch, { recursive: true, force: true });
}
process.stdout.write(`Made ${target}.\n`);
