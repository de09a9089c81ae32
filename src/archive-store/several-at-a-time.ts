/** Works on each item, at most `limit` at the same time. After the first failure it begins no more; that one is thrown. */
export async function severalAtATime<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const outcomes = await Promise.allSettled(
    Array.from({ length: limit }, async () => {
      for (const item of queue) {
        if (failed) return;
        try {
          await work(item);
        } catch (error) {
          failed = true;
          throw error;
        }
      }
    }),
  );
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}
