import { METHODS } from 'node:http';
import type { ServiceContext, ServiceMiddleware } from '../../../http/service-context.ts';
import { badRequest, quoted } from '../../../sword/sword-error.ts';
import { CHECKSUM_ALGORITHMS } from '../upload.ts';
import { TUS_VERSION } from './tus-headers.ts';

const OF_UPLOADS = /^\/1\/[^/]+\/uploads(?:\/[^/]*)?\/?$/;

const TUS_EXTENSIONS = ['creation', 'creation-with-upload', 'checksum', 'expiration', 'termination'] as const;

/** Sets the headers that the tus protocol requires of every answer, and applies its method override. */
export function tusMiddleware({ maxSize }: { readonly maxSize: number }): ServiceMiddleware {
  return (ctx, next) => (OF_UPLOADS.test(ctx.path) ? asTus(ctx, next) : next());

  async function asTus(ctx: ServiceContext, next: () => Promise<unknown>): Promise<void> {
    ctx.set('Tus-Resumable', TUS_VERSION);
    const sent = ctx.method;
    const instead = ctx.get('X-HTTP-Method-Override').trim();
    if (instead !== '') ctx.method = knownMethod(instead.toUpperCase());
    try {
      await next();
    } finally {
      // A client that sent another method waits for the body that the answer announces.
      if (ctx.method === 'HEAD') ctx.method = sent;
    }
    if (ctx.method !== 'OPTIONS') return;
    ctx.set('Tus-Version', TUS_VERSION);
    ctx.set('Tus-Extension', TUS_EXTENSIONS.join(','));
    ctx.set('Tus-Max-Size', String(maxSize));
    ctx.set('Tus-Checksum-Algorithm', CHECKSUM_ALGORITHMS.join(','));
  }
}

function knownMethod(name: string): string {
  if (METHODS.includes(name)) return name;
  throw badRequest(`X-HTTP-Method-Override ${quoted(name)} is not a method.`);
}
