import { registerCompletionHandler } from 'ava';

const MAX_WAIT_MS = 30_000;

/**
 * Ends a test process that is still there half a minute after its last test, so that its file is reported. AVA, which
 * loads this before each test file, would wait for it: for ever, if a test before had a long time limit of its own.
 */
registerCompletionHandler(() => {
  const end = () => {
    const open = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`After its last test the process did not end. Open, beside threads: ${open}\n`);
    process.exit(1);
  };
  setTimeout(end, MAX_WAIT_MS).unref();
});
