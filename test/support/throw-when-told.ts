/** For `node --import`: SIGUSR2 throws where nobody catches. */
process.on('SIGUSR2', () => {
  throw new Error('nobody catches this');
});
