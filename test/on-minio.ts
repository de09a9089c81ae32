import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { installed } from '../testing/processes/installed.ts';
import { MinioProcess, minioProgram } from '../testing/s3/minio-process.ts';

/**
 * Runs the tests of the S3 test server on a real MinIO. Each drill counts as a test. Without a MinIO it reports that,
 * and fails where one could have been built: with CI set and Go installed.
 */
const FILES = ['test/object-store/real-*.test.ts', 'test/object-store/minio-rules/minio-rules.test.ts'];
const DRILLS = ['engines-away', 'two-and-two', 'store-restarts', 'flipped-bits'];

const program = minioProgram();
if (program === undefined) {
  console.log('NOT RUN: tests on a real MinIO: MINIO_BIN is not set, and no minio is on the path.');
  if (process.env.CI && installed('go') !== undefined) process.exitCode = 1;
} else {
  console.log(`On ${program}:`);
  {
    await using minio = await MinioProcess.start(program);
    const settings = { S3_URL: minio.bucketUrl('contract'), S3_DRIVE: minio.drive };
    if ((await run('ava', FILES, settings)) !== 0) process.exitCode = 1;
  }
  for (const name of DRILLS) {
    const code = await run('node', [`drills/${name}.ts`, '--short']);
    console.log(code === 0 ? `  ✔ drill ${name}` : `  ✘ drill ${name} ended with ${code}`);
    if (code !== 0) process.exitCode = 1;
  }
}

async function run(
  command: string,
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const child = spawn(command, args, { env: { ...process.env, ...settings }, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}
