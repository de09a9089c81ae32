/** Resolves to what the service at this URL is waiting for; empty if it is ready. */
export async function notReadyBecause(url: string): Promise<string> {
  const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(10_000) });
  const text = await answer.text();
  return answer.ok ? '' : (/<summary>([^<]*)</.exec(text)?.[1] ?? text);
}
