import { files } from '../tools/files.ts';

/** Returns name and version of this software, which every document names as its generator. */
export function packageInfo(): { readonly name: string; readonly version: string } {
  const text = files.readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return { name, version };
}
