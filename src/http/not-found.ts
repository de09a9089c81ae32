import { SwordError } from '../sword/sword-error.ts';

export function notFound(summary: string): SwordError {
  return new SwordError('NotFound', summary);
}
