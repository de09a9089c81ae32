import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A command of a page, and the answer that the page shows. */
export type PageCommand = { readonly command: string; readonly answer: readonly string[] };

/** Returns the commands in the `console` blocks of a page, in order. */
export function commandsIn(page: string): PageCommand[] {
  return [...page.matchAll(/^```console\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .filter((part) => part !== '')
      .map((part) => {
        const [command = '', ...answer] = part.trimEnd().split('\n');
        return { command, answer };
      }),
  );
}

/** Whether an output has these lines: `…` in a line stands for any text, and alone for any number of lines. */
export function answers(output: string, expected: readonly string[]): boolean {
  const lines = expected.map((line) =>
    line === '…' ? '(?:.*\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`,
  );
  return new RegExp(`^${lines.join('')}$`).test(
    output === '' || output.endsWith('\n') ? output : `${output}\n`,
  );
}

/** Runs a command in a shell. Resolves to what a terminal would show. */
export async function shown(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const shell = spawn('sh', ['-c', `exec 2>&1; ${command}`], { cwd, env });
  let output = '';
  shell.stdout.on('data', (text) => (output += String(text)));
  shell.stdin.end();
  await once(shell, 'close');
  return output;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
