import { runScript } from '../../testing/processes/run-script.ts';

/** Resolves to what `verify --all` finds in the data folder of a service, a sentence each; empty if all was proven. */
export async function everythingVerified(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { code, out, err } = await runScript(dataDir, 'verify', ['--all'], { env });
  return code === 0 ? [] : [`verify --all ended with ${code}: ${out.slice(0, 2000)}${err}`];
}
