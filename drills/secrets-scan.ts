import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { UsageError } from '../src/operations/command/command.ts';
import { type Finding, runDrill, skipped } from './frame/drill.ts';
import { DRILL_PASSWORD } from './service/drilled-service.ts';

const HELP = `Searches what the earlier drills left for secrets: the logs and outputs of services, what the drills said, the files of
the event logs, the refusals that were answered. "npm run drills" runs it last and passes the folder.

  node drills/secrets-scan.ts --in DIR
`;

/** Patterns that must not occur, and the files in which they may. */
const SECRETS: readonly (readonly [what: string, pattern: RegExp, except?: RegExp])[] = [
  ['a password', new RegExp(DRILL_PASSWORD, 'g')],
  ['a password that was guessed', /guessed-in-the-drill/g],
  ['the base64 of a name and password', new RegExp(base64Forms(`drill:${DRILL_PASSWORD}`).join('|'), 'g')],
  ['credentials of a request', /Basic (?!authentication|credentials)[A-Za-z0-9+/]{8,}={0,2}/g],
  // The log stores what passwords are verified with; no other file may have it.
  ['the scrypt of a password', /scrypt[$:"][^\n]{0,40}/gi, /\.sqlite/],
  ['a stack trace', /\n\s+at [^\n]*:\d+:\d+\)?/g, /\.(sqlite|sqlite-wal|drill|services)$/],
  [
    'a path of this machine',
    /(?:\/tmp|\/home|\/root|\/var|node_modules)\/[^\s<"]{3,}/g,
    /\.(sqlite|sqlite-wal|drill|services)$/,
  ],
];

await runDrill(HELP, { in: { type: 'string' } }, async (values) => {
  const folder = values.in ?? process.env['DRILL_OUTPUT_DIR'];
  if (!folder) throw new UsageError('--in is missing: the folder with what the drills left.');
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('secrets-scan.'))
    .map(({ name }) => name);
  return names.length === 0 ? skipped('no drill has left anything to look at') : scan(folder, names);
});

async function scan(folder: string, names: readonly string[]): Promise<Finding> {
  const broken: string[] = [];
  const numbers = { files: names.length, bytes: 0, logs: 0, answers: 0, found: 0 };
  for (const name of names) {
    const text = await readFile(path.join(folder, name), 'latin1');
    numbers.bytes += text.length;
    if (/\.sqlite/.test(name)) numbers.logs += 1;
    if (name.endsWith('.answers')) numbers.answers += [...text.matchAll(/^\d{3} http/gm)].length;
    for (const [what, pattern, except] of SECRETS) {
      if (except?.test(name)) continue;
      const found = [...text.matchAll(pattern)];
      numbers.found += found.length;
      const [first] = found;
      if (first) broken.push(`${name} has ${what} ${found.length} times, first at byte ${first.index}.`);
    }
  }
  return {
    tried: `${names.length} files that the drills left (${Math.round(numbers.bytes / 1024 ** 2)} MiB: logs of services, ${numbers.logs} files of event logs, ${numbers.answers} refusals) were searched for passwords, their base64 and digests, traces and paths.`,
    held: 'Nothing of the kind was in any of them.',
    broken,
    numbers,
  };
}

/** Returns the forms in which the text may occur inside the base64 of a longer text. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from(`${'-'.repeat(before)}${text}`)
      .toString('base64')
      .replace(/=+$/, '');
    // The characters that depend on what comes before and after are left out.
    return encoded.slice(before === 0 ? 0 : before + 1, -2).replaceAll('+', '\\+');
  });
}
