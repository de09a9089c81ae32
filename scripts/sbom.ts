import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { readOptions } from '../src/operations/command/arguments.ts';
import { runCommand } from '../src/operations/command/command.ts';
import { say } from '../src/operations/command/output.ts';

const HELP = `Prints the bill of materials of the service, CycloneDX 1.5, from package-lock.json.

  npm run -s sbom

It names every package that the service runs on, with version, licence, SHA-512 and package URL.
It needs npm 10 or newer.

Exit codes: 0 printed, 1 npm failed, 2 wrong usage.
`;

/** Development packages are included: without them, npm also omits those that they share with the service. */
const FORMAT = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
const ASK = ['sbom', ...FORMAT, '--include', 'dev', '--package-lock-only'];

type Sbom = { readonly components: readonly Component[]; readonly dependencies: readonly Dependency[] };
type Component = { readonly 'bom-ref': string; readonly properties?: readonly { readonly name: string }[] };
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };

await runCommand(HELP, sbom, { mayBeBare: true });

async function sbom(args: string[]): Promise<void> {
  readOptions(args, {});
  const options = { cwd: path.join(import.meta.dirname, '..'), maxBuffer: 64 * 1024 ** 2 };
  const { stdout } = await promisify(execFile)('npm', ASK, options);
  say(JSON.stringify(withoutDevelopment(JSON.parse(stdout) as Sbom), undefined, 2));
}

function withoutDevelopment(all: Sbom): Sbom {
  const dropped = new Set(all.components.filter(isForDevelopment).map((component) => component['bom-ref']));
  return {
    ...all,
    components: all.components.filter((component) => !dropped.has(component['bom-ref'])),
    dependencies: all.dependencies
      .filter(({ ref }) => !dropped.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => !dropped.has(one)) })),
  };
}

function isForDevelopment({ properties = [] }: Component): boolean {
  return properties.some(({ name }) => name === 'cdx:npm:package:development');
}
