/**
 * Handles a closed standard output, as in `npm run client -- list | head -1`, which would otherwise end the command in
 * the middle of its work.
 * With `endsProcess`, the process exits quietly, since the reader has read enough. Otherwise it finishes its work
 * without output. Any other failed write makes the command fail.
 */
export function handleClosedOutput({ endsProcess }: { readonly endsProcess: boolean }): void {
  let failed = false;
  process.stdout.on('error', ({ code, message, syscall }: NodeJS.ErrnoException) => {
    if (syscall === undefined) return; // an error of what was to be written, which its source reports
    if (code === 'EPIPE' && endsProcess) process.exit();
    if (code === 'EPIPE' || failed) return;
    failed = true;
    process.stderr.write(`Not all of the output could be written: ${message}.\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  process.stderr.on('error', () => undefined); // cannot be reported anywhere
}
