import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import { median } from './statistics.ts';

/** The properties of the machine that the numbers of a run depend on. */
export type Machine = {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memory: number;
  readonly node: string;
  /** Milliseconds that one write with its `fdatasync` takes in the folder of temporary files. */
  readonly syncTime: number;
};

export function describeMachine(folder: string): Machine {
  return {
    date: new Date().toISOString().slice(0, 16),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memory: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
    syncTime: syncTime(folder),
  };
}

export function machineText({ date, cpu, cores, memory, node, syncTime: sync }: Machine): string {
  return `${date} UTC, ${cores} cores (${cpu}), ${memory} GiB, Node ${node}, a sync takes ${sync.toFixed(2)} ms`;
}

/** Returns the number of runnable tasks on this machine in the last minute. */
export function load(): number {
  return loadavg()[0] ?? NaN;
}

function syncTime(folder: string): number {
  const file = path.join(folder, 'sync-time');
  const descriptor = openSync(file, 'w');
  try {
    const times = Array.from({ length: 31 }, () => {
      const started = performance.now();
      writeSync(descriptor, 'x'.repeat(1000));
      fdatasyncSync(descriptor);
      return performance.now() - started;
    });
    return median(times);
  } finally {
    closeSync(descriptor);
    rmSync(file);
  }
}
