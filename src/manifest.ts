import { files } from './tools/files.ts';

/** Name and version of this software, named as the maker of every document. */
export function manifest(): { readonly name: string; readonly version: string } {
  const text = files.readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { name, version } = JSON.parse(text) as { name: string; version: string };
  return { name, version };
}
