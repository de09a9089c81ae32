/**
 * Runs `work` for each item, with at most `limit` concurrent calls. After the first failure no further call
 * starts, and that error is thrown.
 */
export async function mapConcurrent<T>(
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
