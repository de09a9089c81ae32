import type { status } from '@grpc/grpc-js';
import { type Refusal, refusal } from './fault-switches.ts';

/** Returns the answer to a call about a group on `$all` that is not served. */
export function groupRefusal(code: status, exception: string, group: string, reason?: string): Refusal {
  const names = { 'stream-name': '$all', 'group-name': group };
  return refusal(code, exception, reason === undefined ? names : { ...names, reason });
}
