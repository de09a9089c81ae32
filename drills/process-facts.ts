import { readdir, readFile, readlink } from 'node:fs/promises';

/** What the process has open: files, sockets, pipes. */
export async function openDescriptors(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  const targets = names.map((name) => readlink(`${folder}/${name}`).catch(() => '')); // may close in between
  return (await Promise.all(targets)).filter((target) => target !== '');
}

/** The most memory that the process had at a time, in MiB. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

/** The threads of the process with these names. */
export async function threadsNamed(pid: number, name: RegExp): Promise<number[]> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder);
  const named = await Promise.all(
    threads.map(async (thread) =>
      name.test(await readFile(`${folder}/${thread}/comm`, 'utf8').catch(() => '')),
    ),
  );
  return threads.filter((_, index) => named[index]).map(Number);
}
