/**
 * What becomes of a command when nobody takes what it says any more, as in `npm run client -- list | head -1`: without
 * this it would break off there, in the middle of its work. With `endsProcess` it ends quietly, since whoever stopped
 * reading has all that they wanted; otherwise it goes on to its end unheard. What goes into a file and is not all
 * there makes it fail.
 */
export function bearUnread({ endsProcess }: { readonly endsProcess: boolean }): void {
  let failed = false;
  process.stdout.on('error', ({ code, message, syscall }: NodeJS.ErrnoException) => {
    if (syscall === undefined) return; // of what was to be written: whoever made it tells that
    if (code === 'EPIPE' && endsProcess) process.exit();
    if (code === 'EPIPE' || failed) return;
    failed = true;
    process.stderr.write(`Not all of the output could be written: ${message}.\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  process.stderr.on('error', () => undefined); // there is nowhere to tell it
}
