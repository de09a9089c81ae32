/** For `node --import`: SIGUSR2 throws an exception that no code catches. */
process.on('SIGUSR2', () => {
  throw new Error('this exception is never caught');
});
