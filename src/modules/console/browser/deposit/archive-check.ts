import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { digest } from '../../proof/digests.ts';
import { html } from '../../protocol/html.ts';
import { Name, Shown } from '../parts/shown.ts';
import { countText } from '../texts/count.ts';

type Archive = { readonly filename: string; readonly sha256: string; readonly length: number };

/** Maximum bytes of a file that is hashed here: browsers need all of it in memory. */
const MAX_BYTES = 256 * 1024 ** 2;

/** Compares a file of the reader with the archives of the deposit. */
export function ArchiveCheck({ archives }: { readonly archives: readonly Archive[] }): VNode {
  const [result, setResult] = useState('');
  const onClick = (event: Event): void => {
    (event.currentTarget as HTMLInputElement).value = ''; // a changed file may be chosen again under its name
    setResult('');
  };
  const onChange = (event: Event): void => {
    const input = event.currentTarget as HTMLInputElement;
    const file = input.files?.[0];
    setResult(file ? 'Hashing …' : '');
    if (!file) return;
    const show = (text: string): void => {
      if (input.files?.[0] === file) setResult(text); // of another file by now, if not
    };
    void compare(file, archives).then(show, (error: Error) => show(error.message));
  };
  return html`<section aria-label="Bytes">
    <h2>Bytes</h2>
    <ul>
      ${archives.map(
        ({ filename, sha256, length }) =>
          html`<li><${Name} text=${filename} />, ${countText(length, 'byte')}, SHA-256 <code class="digest">${sha256}</code></li>`,
      )}
    </ul>
    <label>Hash an archive that you have <input type="file" onClick=${onClick} onChange=${onChange} /></label>
    <p role="status"><${Shown} text=${result} /></p>
  </section>`;
}

async function compare(file: File, archives: readonly Archive[]): Promise<string> {
  if (file.size > MAX_BYTES) return `${file.name} is too large to be hashed here. Run: sha256sum FILE`;
  const found = (await digest('SHA-256', new Uint8Array(await file.arrayBuffer()))).toHex();
  const same = archives.find(({ sha256 }) => sha256 === found);
  return same
    ? `✔ ${file.name} is the archive ${same.filename} of this deposit, byte for byte.`
    : `✖ ${file.name} is not an archive of this deposit: its SHA-256 is ${found}.`;
}
