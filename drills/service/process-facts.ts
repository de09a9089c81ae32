import { readdir, readFile, readlink } from 'node:fs/promises';

/** Resolves to the open files, sockets and pipes of the process. */
export async function openDescriptors(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  const targets = names.map((name) => readlink(`${folder}/${name}`).catch(() => '')); // may close in between
  return (await Promise.all(targets)).filter((target) => target !== '');
}

/** Resolves to the peak of memory of the process, in MiB. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024);
}

/** Resolves to the threads of the process with these names. */
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

/** Resolves to the processor time of all threads of the process, in milliseconds. */
export async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10; // clock ticks of 10 ms
}
