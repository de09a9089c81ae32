import type { ArchiveKind } from '../archives/archive-workers.ts';
import type { SeededRandom } from '../world/seeded-random.ts';
import { CLIENTS, HTTP_NODES, type PlannedDeposit, type PlannedStep, type StepKind } from './plan.ts';

const LONGEST_WAIT_MS = 2000;

/** Draws a deposit and its steps; one of a burst is complete with its first request. */
export function makeDeposit(
  random: SeededRandom,
  name: string,
  at: number,
  isOfBurst: boolean,
): PlannedDeposit {
  const archive = archiveKind(random);
  const isFinal = isOfBurst || random.chance(0.35);
  const isKeyed = random.chance(0.6);
  return {
    name,
    at,
    node: random.int(HTTP_NODES),
    client: random.int(CLIENTS.length),
    archive,
    isKeyed,
    isTwofold: isKeyed && random.chance(0.2),
    isFinal,
    isOrphan: random.chance(0.15),
    pieces: random.chance(0.3) ? 1 + random.int(4) : 0,
    steps: [...(isFinal ? [] : changes(random)), ...(isOfBurst ? [] : aftermath(random, archive))],
  };
}

/** Draws the steps of a partial deposit, up to its completion or deletion. */
function changes(random: SeededRandom): PlannedStep[] {
  const steps: PlannedStep[] = [];
  for (let left = random.int(4); left > 0; left--) {
    const kind = random.pick<StepKind>(['add', 'add', 'replace', 'remove']);
    steps.push(step(random, kind));
    if (kind === 'remove') steps.push(step(random, 'add'));
  }
  if (random.chance(0.15)) steps.push({ ...step(random, 'delete'), isParallel: random.chance(0.6) });
  return [...steps, step(random, 'complete')];
}

/** Draws the steps after the completion. */
function aftermath(random: SeededRandom, archive: ArchiveKind): PlannedStep[] {
  if (archive !== 'good') return random.chance(0.7) ? [step(random, 'retry')] : [];
  return random.chance(0.3) ? [step(random, 'annotate')] : [];
}

function step(random: SeededRandom, kind: StepKind): PlannedStep {
  return {
    kind,
    after: random.between(0, LONGEST_WAIT_MS),
    node: random.int(HTTP_NODES),
    archive: archiveKind(random),
    isParallel: kind !== 'complete' && random.chance(0.2),
  };
}

function archiveKind(random: SeededRandom): ArchiveKind {
  if (random.chance(0.84)) return 'good';
  return random.pick<ArchiveKind>(['damaged', 'clashing']);
}
