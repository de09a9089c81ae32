import { S3Server } from './s3-server.ts';

/** An S3 server of its own, for several services to share: tells where it listens as one line of JSON. */
const server = await S3Server.start();
const { accessKey, secretKey } = server.options;
console.log(JSON.stringify({ port: server.port, accessKey, secretKey }));
process.once('SIGTERM', () => void server[Symbol.asyncDispose]().then(() => process.exit(0)));
