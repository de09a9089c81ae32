import { type FuzzReport, fuzzArchives } from '../test/fuzzing/fuzz-archives.ts';
import { type Finding, printProgress, runDrill } from './frame/drill.ts';

const HELP = `Changes small archives in places that a seed decides and has them inspected by the service's own workers. Each must be
refused with a reason, or have the identifier that another reader of archives finds; no worker may die or hang of one.

  node drills/mutation-fuzzing.ts [--mutations 20000] [--seed 1]

--mutations N  archives to make and read
--seed N       the same seed makes the same archives
`;

await runDrill(HELP, { mutations: { full: 20_000, short: 1000 }, seed: 1 }, async ({ mutations, seed }) => {
  const onProgress = (done: number): void =>
    printProgress(`${done} of ${mutations} changed archives were read`);
  return asFinding(await fuzzArchives({ mutations, seed, onProgress }), seed);
});

function asFinding(report: FuzzReport, seed: number): Finding {
  const { tried, accepted, refused, agreed, incomparable, slowest, broken } = report;
  return {
    tried: `${tried} archives, changed at random with the seed ${seed}, were inspected by the service's workers.`,
    held: `No worker died or hung; ${refused} were refused with a reason, and none of the ${agreed} that another reader could read as well has another identifier there.`,
    broken,
    numbers: { tried, refused, accepted, agreed, incomparable, slowestMs: Math.ceil(slowest) },
  };
}
