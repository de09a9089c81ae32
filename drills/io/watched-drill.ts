import type { ParseArgsOptionsConfig } from 'node:util';
import { type Finding, runDrill, skipped, type Values } from '../frame/drill.ts';
import { runWatched, whyNotWatched } from './io-control.ts';

/** Runs a drill as {@link runDrill} does, with its calls watched. It is skipped where that is not possible. */
export async function runWatchedDrill<Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
  drill: (values: Values<Options>) => Promise<Finding>,
): Promise<void> {
  const reason = whyNotWatched();
  const exitCode = reason === undefined ? runWatched() : undefined;
  if (exitCode !== undefined) process.exitCode = exitCode;
  else
    await runDrill(help, options, async (values) =>
      reason === undefined ? await drill(values) : skipped(reason),
    );
}
