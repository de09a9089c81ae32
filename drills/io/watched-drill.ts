import { type Finding, type Options, runDrill, skipped, type Values } from '../frame/drill.ts';
import { runWatched, whyNotWatched } from './io-control.ts';

/** Runs a drill as {@link runDrill} does, with its calls watched. It is skipped where that is not possible. */
export async function runWatchedDrill<const Known extends Options>(
  help: string,
  options: Known,
  drill: (values: Values<Known>) => Promise<Finding>,
): Promise<void> {
  const reason = whyNotWatched();
  const exitCode = reason === undefined ? runWatched() : undefined;
  if (exitCode !== undefined) process.exitCode = exitCode;
  else
    await runDrill(help, options, async (values) =>
      reason === undefined ? await drill(values) : skipped(reason),
    );
}
