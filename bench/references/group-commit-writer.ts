import { fdatasyncSync, openSync, writeSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

/* The thread of a group-commit file. */
if (!parentPort) throw new Error('group-commit-writer.ts runs as a worker thread only.');
const port = parentPort;
const descriptor = openSync(String(workerData), 'a');

port.on('message', (first: string[]) => {
  const lines = [...first];
  for (let more = receiveMessageOnPort(port); more; more = receiveMessageOnPort(port))
    lines.push(...(more.message as string[]));
  write(Buffer.from(`${lines.join('\n')}\n`));
  fdatasyncSync(descriptor);
  port.postMessage(lines.length);
});

/** A write may take fewer bytes than it was given. */
function write(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
}
