import { hash } from 'node:crypto';
import path from 'node:path';
import { files } from '../../../tools/files.ts';
import { withoutTypes } from './without-types.ts';

const ENTRY = path.join(import.meta.dirname, '../browser/verifier/verifier.ts');

/**
 * Generates the offline verifier from its sources: one HTML file, which requests nothing. The same sources give the same
 * bytes, whose SHA-256 docs/auditing.md states.
 */
export async function verifierPage(): Promise<string> {
  const sources = new Map<string, string>();
  await addSources(ENTRY, sources);
  return pageWith([...sources.values()].join('\n'));
}

const IMPORTS = /^import [^;]*? from '([^']+)';\n/gm;

/** Adds the JavaScript of a file after that of the files that it imports. All of it is then one module. */
async function addSources(file: string, sources: Map<string, string>): Promise<void> {
  if (sources.has(file)) return;
  sources.set(file, '');
  const script = withoutTypes(await files.readFile(file, 'utf8'));
  for (const [, specifier = ''] of script.matchAll(IMPORTS))
    await addSources(path.resolve(path.dirname(file), specifier), sources);
  sources.delete(file); // to come after its imports
  sources.set(file, withoutBlanks(script.replaceAll(IMPORTS, '').replaceAll(/^export /gm, '')));
}

/** Removes the blanks that types leave behind. */
function withoutBlanks(script: string): string {
  return `${script
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}

function pageWith(script: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${integrity(script)}'`,
    `style-src '${integrity(STYLE)}'`,
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<title>Offline verifier of deposits</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Offline verifier of deposits</h1>
<p>This file recomputes what an evidence file proves about a deposit. It requests nothing: disconnect the network first. Its SHA-256 is in docs/auditing.md of the project.</p>
<p><label for="evidence">Evidence file (deposit-….audit.json), or drop it on this page</label>
<input type="file" id="evidence" accept=".json"></p>
<p><label for="keys">Public keys of the service that you have stored, in PEM</label>
<textarea id="keys" rows="4" spellcheck="false"></textarea></p>
<p id="verdict" role="status">No evidence is chosen.</p>
<ol id="steps"></ol>
<h2>What this does not prove</h2>
<ul id="limits"></ul>
<h2>Events</h2>
<div class="wide" tabindex="0" role="region" aria-label="Events"><table>
<thead><tr><th>Event</th><th>Time</th><th>Actor</th><th>Type</th><th>Data</th></tr></thead>
<tbody id="events"></tbody>
</table></div>
</main>
<script type="module">${script}</script>
</body>
</html>
`;
}

function integrity(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 1rem; }
label { display: block; font-weight: 600; }
textarea { width: 100%; box-sizing: border-box; font: 13px/1.4 ui-monospace, monospace; }
#verdict { padding: .75rem 1rem; border: 2px solid currentColor; border-radius: 6px; font-weight: 600; }
[data-outcome=proven] { color: light-dark(#0b6b2e, #6fd58f); }
[data-outcome=broken] { color: light-dark(#b3121d, #ff8d8d); }
li, td { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #8886; text-align: left; vertical-align: top; }
td:nth-child(-n+4) { white-space: nowrap; }
`;
