const UNTIL_LIMIT_MS = 120_000;
/** A poll is often a request, which the test process sends and answers. */
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 60;

/** Polls until the condition holds, less often while it lasts. @throws it does not within two minutes */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let [begun, pause] = [performance.now(), FIRST_POLL_MS]; !(await isSo()); ) {
    if (performance.now() - begun > UNTIL_LIMIT_MS) throw new Error(`Still not so: ${String(isSo)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.2, LONGEST_POLL_MS);
  }
}
