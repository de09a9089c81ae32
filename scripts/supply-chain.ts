import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';
import { askAudit } from './supply-chain/npm-audit.ts';
import { readPackages } from './supply-chain/read-packages.ts';
import { type Check, checkPackages } from './supply-chain/supply-chain-checks.ts';

const HELP = `Checks where the code comes from that this project did not write.

  npm run supply-chain -- [--strict] [--json]
  npm run supply-chain -- --offline [--json]

  lock             each installed package is pinned to a hash, and comes from the npm registry
  licences         each package has a licence that is allowed
  install scripts  only packages that allowScripts of package.json names may run code when they are installed
  decisions        each package that the service runs on is named in docs/decisions
  vulnerabilities  none is known of what the service runs on, by npm audit

The registry may be out of reach, or may not answer audits: then the last line says "not checked".

  --offline  asks no registry
  --strict   counts what could not be checked as a fault
  --json     one line of JSON

Exit codes: 0 nothing was found, 1 something was, 2 wrong usage.
`;

const NOT_ASKED: Check = { name: 'vulnerabilities', looked: 0, problems: [], notChecked: 'not asked for.' };

await runCommand(HELP, supplyChain, { mayBeBare: true });

async function supplyChain(args: string[]): Promise<number> {
  const values = readOptions(args, {
    offline: { type: 'boolean' },
    strict: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  const checks = checkPackages(await readPackages());
  checks.push(values.offline ? NOT_ASKED : await askAudit());
  const faults = checks.filter(
    ({ problems, notChecked }) => problems.length > 0 || (values.strict && notChecked !== undefined),
  );
  if (values.json) say(JSON.stringify({ ok: faults.length === 0, checks }));
  else for (const check of checks) say(checkText(check));
  return faults.length === 0 ? 0 : 1;
}

function checkText({ name, looked, problems, notChecked }: Check): string {
  if (notChecked !== undefined) return `not checked: ${name}: ${notChecked}`;
  if (problems.length === 0) return `ok: ${name} (${looked} packages)`;
  return problems.map((problem) => `FOUND: ${name}: ${problem}`).join('\n');
}
