import { useRef, useState } from 'preact/hooks';

/** Starts acts of the person that the server does. */
type Starter = {
  /** Starts an act, unless one is running: a second click must not repeat it. */
  readonly run: (act: () => Promise<void>) => void;
  /** Why the last act failed. */
  readonly problem: string | undefined;
};

export function useAct(): Starter {
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const isRunning = useRef(false); // clicks may come faster than the page is rendered
  const end = (reason?: string): void => {
    isRunning.current = false;
    setProblem(reason);
  };
  const run: Starter['run'] = (act) => {
    if (isRunning.current) return;
    isRunning.current = true;
    setProblem(undefined);
    act().then(
      () => end(),
      (error: Error) => end(error.message), // also of an answer that broke off
    );
  };
  return { run, problem };
}
