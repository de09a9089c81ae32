import { minioProgram } from '../testing/s3/minio-process.ts';
import { AWAYS, EngineOutage, type OutageFound } from './engines/engine-outage.ts';
import { type Finding, runDrill } from './frame/drill.ts';

const HELP = `Takes the event log (the double of EventStoreDB), and in another service the archive store (MinIO if
MINIO_BIN names one or minio is on the path, else the S3 server of the tests), away under load: refused, reset, silent
(stopped by SIGSTOP), slow. Requests must be answered in bounded time, with 201 or with 503 and Retry-After; readiness
must name what is missing; when the engine is back the service must recover by itself, and every deposit must come to its
end.

  node drills/engines-away.ts [--away 60]

--away S  for which an engine refuses; otherwise it is away for a quarter of that
`;

await runDrill(HELP, { away: { full: 60, short: 5 } }, async ({ away, short }) => drill(away, short));

async function drill(away: number, isShort: boolean): Promise<Finding> {
  const minio = minioProgram();
  const ways = isShort ? AWAYS.filter((way) => way === 'silent' || way === 'refused') : AWAYS;
  const seconds = (way: string): number => (way === 'refused' && !isShort ? away : Math.max(4, away / 4));
  const found = await Promise.all(
    (['log', 'store'] as const).map(async (engine) => {
      await using outage = await EngineOutage.prepare(engine, minio);
      for (const way of ways) await outage.take(way, seconds(way));
      return await outage.found();
    }),
  );
  const sum = (name: keyof OutageFound['numbers']): number =>
    found.reduce((total, { numbers }) => total + numbers[name], 0);
  const longest = (name: keyof OutageFound['numbers']): number =>
    Math.round(Math.max(...found.map(({ numbers }) => numbers[name])));
  return {
    tried: `The event log and the archive store (${minio === undefined ? 'the S3 server of the tests' : 'MinIO'}) were away under load, each in a service of its own: ${ways.map((way) => `${way} for ${seconds(way)} s`).join(', ')}.`,
    held: `Every request was answered in ${longest('longest')} ms at the most, with 201 or with 503 and Retry-After; readiness named the engine; the service recovered by itself ${longest('back')} ms after the engine at the latest; nothing acknowledged was lost and every deposit came to its end.`,
    broken: found.flatMap(({ broken }) => broken),
    numbers: {
      outages: found.length * ways.length,
      acknowledged: sum('acknowledged'),
      'answered 503': sum('refused'),
      lost: sum('lost'),
      stuck: sum('stuck'),
      'longest answer, ms': longest('longest'),
      'longest recovery, ms': longest('back'),
    },
  };
}
