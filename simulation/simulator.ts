/** A process that runs histories for {@link Simulators}; `hooks.ts` is preloaded. */
import { type RunOptions, runHistory } from './history/run-history.ts';
import { makePlan } from './plan/make-plan.ts';
import type { Plan } from './plan/plan.ts';
import { shrink } from './shrink.ts';
import type { SimulatorReply, SimulatorRequest } from './simulator-messages.ts';
import { stackOf } from './world/stack-of.ts';

/** Lines of a stack when a single history is examined; bulk runs have none. */
const STACK_LINES = 10;

let work = Promise.resolve();

process.on('message', (message) => {
  work = work.then(() => serve(message as SimulatorRequest)); // as `Simulators` sends it
});
process.on('disconnect', () => process.exit());

async function serve(request: SimulatorRequest): Promise<void> {
  try {
    reply(await answerTo(request));
  } catch (error) {
    reply({ kind: 'error', text: stackOf(error) });
  }
}

async function answerTo(request: SimulatorRequest): Promise<SimulatorReply> {
  switch (request.kind) {
    case 'seed':
      return resultOf(makePlan(request.seed));
    case 'plan': {
      if (!request.isTraced) return resultOf(request.plan);
      Error.stackTraceLimit = STACK_LINES;
      const result = await resultOf(request.plan, { isTraced: true });
      Error.stackTraceLimit = 0;
      return result;
    }
    case 'shrink': {
      const isBad = async (candidate: typeof request.plan): Promise<boolean> => {
        const { violations } = await runHistory(candidate);
        return violations.some(({ kind }) => kind === request.violation);
      };
      return { kind: 'shrunk', ...(await shrink(request.plan, isBad)) };
    }
    default:
      return request satisfies never;
  }
}

async function resultOf(plan: Plan, options?: RunOptions): Promise<SimulatorReply> {
  const before = process.cpuUsage();
  const result = await runHistory(plan, options);
  const { user, system } = process.cpuUsage(before);
  return { kind: 'result', plan, result, cpuMs: (user + system) / 1000 };
}

function reply(message: SimulatorReply): void {
  process.send?.(message);
}
