import fs from 'node:fs';
import path from 'node:path';

/** Memory of this machine: what is on the disk of a node is lost by its power cuts alone. */
const ROOT = fs.existsSync('/dev/shm') ? '/dev/shm' : '/tmp';
const PREFIX = 'deposit-simulation-';

const folders = new Set<string>();
// A process that ends within a history leaves no folder in the memory of the machine.
process.on('exit', () => {
  for (const folder of folders) removeDiskFolder(folder);
});

/** Makes the folder of a simulated disk. Its name has the id of this process. */
export function makeDiskFolder(): string {
  const folder = fs.mkdtempSync(path.join(ROOT, `${PREFIX}${process.pid}-`));
  folders.add(folder);
  return folder;
}

export function removeDiskFolder(folder: string): void {
  fs.rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

/** Returns the folders of the disks of a process. */
export function diskFoldersOf(pid: number): readonly string[] {
  return fs.readdirSync(ROOT).filter((name) => name.startsWith(`${PREFIX}${pid}-`));
}

/** Returns whether a text may name a place on a disk: most do not. */
export function namesDisk(text: string): boolean {
  return text.includes(PREFIX);
}
