import { createInterface } from 'node:readline';
import type { S3Bucket } from './s3-bucket.ts';
import { S3Server } from './s3-server.ts';

/**
 * An S3 server in a separate process, shared by several services. It prints its address as one line of JSON, then one
 * line for each line of its input: a command, the bucket and a key.
 */
const server = await S3Server.start();
const { accessKey, secretKey } = server.options;
const reply = (value: unknown): void => console.log(JSON.stringify(value ?? null));
process.once('SIGTERM', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
reply({ port: server.port, accessKey, secretKey });

const COMMANDS: Readonly<Record<string, (bucket: S3Bucket, key: string) => unknown>> = {
  /** Flips a bit of the object, or flips it back. */
  flip: ({ flipped }, key) => flipped.delete(key) || flipped.add(key).has(key),
  'cut-power': (bucket, key) => server.cutPower(bucket, key === '' ? undefined : key),
  'bring-back': (bucket, key) => bucket.bringBack(key),
  lost: ({ lost }) => [...lost.keys()],
};

for await (const line of createInterface({ input: process.stdin })) {
  const [command = '', bucketName = '', key = ''] = line.split(' ');
  const bucket = server.buckets.get(bucketName);
  reply(bucket && COMMANDS[command]?.(bucket, key));
}
