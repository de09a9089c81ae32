import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test from 'ava';
import { openToWrite } from '../../src/object-store/filesystem/object-database.ts';
import { openViewFile } from '../../src/views/store/open-view-file.ts';

const NOBODY = 65_534;

for (const [name, open] of Object.entries({
  'a file of views': (file: string) => openViewFile(file, 'sqlite'),
  'a table of small objects': openToWrite,
})) {
  test(`${name} that the system opens to read only is refused, and opened once that is over`, (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sqlite-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o777);
    const file = path.join(folder, 'file.sqlite');
    open(file)[Symbol.dispose]();
    chmodSync(file, 0o444);
    const isRoot = process.geteuid?.() === 0; // may write every file
    if (isRoot) process.seteuid?.(NOBODY);
    try {
      t.notThrows(() => new DatabaseSync(file).close(), 'SQLite says nothing');
      t.throws(() => open(file), { message: /attempt to write a readonly database/ });
    } finally {
      if (isRoot) process.seteuid?.(0);
    }
    chmodSync(file, 0o666);
    open(file)[Symbol.dispose]();
  });
}
