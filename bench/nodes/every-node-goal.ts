import type { Goal } from '../frame/goal.ts';
import { catchUpRate } from './catch-up.ts';
import { httpNodes } from './http-nodes.ts';
import { leaderLoss } from './leader-loss.ts';
import { reactorNodes } from './reactor-nodes.ts';

/** The goals that measure several nodes on the same engines. */
export const everyNodeGoal: readonly Goal[] = [httpNodes, reactorNodes, catchUpRate, leaderLoss];
