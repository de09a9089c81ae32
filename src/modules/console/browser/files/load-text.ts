import { ApiError } from '../api.ts';

/** Resolves to the text at a path of the console. @throws {ApiError} */
export async function loadText(path: string, signal: AbortSignal): Promise<string> {
  return new TextDecoder().decode(await loadBytes(path, signal));
}

/** Resolves to the bytes at a path of the console. @throws {ApiError} */
export async function loadBytes(path: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(path, { headers: { 'X-Console': '1' }, signal });
  if (answer.ok) return new Uint8Array(await answer.arrayBuffer());
  const { error } = (await answer.json().catch(() => ({}))) as { error?: { code: string; message: string } };
  throw new ApiError(
    error?.code ?? 'UNAVAILABLE',
    error?.message ?? 'The service cannot answer.',
    answer.status,
  );
}
