import type { CollectionView } from '../../../projections/collections.ts';
import type { View } from '../../read-models/projector.ts';
import type { Iris } from '../../sword/iris.ts';
import { negotiate } from '../../sword/negotiate.ts';
import { serviceDocument, serviceDocumentJson } from '../../sword/service-document.ts';
import { resource } from '../resource.ts';
import type { ServiceMiddleware } from '../service-context.ts';

export type ServiceDocumentOptions = {
  readonly iris: Iris;
  readonly depositNamespace: string;
  readonly maxUploadSize: number;
  /** `undefined`: archives come whole. */
  readonly maxResumableUploadSize: number | undefined;
};

/** SD-IRI: the collections of the client that asks. */
export function serviceDocumentIri(
  collections: View<CollectionView>,
  options: ServiceDocumentOptions,
): ServiceMiddleware {
  return resource({
    find: async () => undefined,
    handlers: {
      GET: async (ctx) => {
        const granted = ctx.state.login.collections.flatMap((name) => collections.get(name) ?? []);
        const document = {
          title: 'Source code deposits',
          maxUploadSize: options.maxUploadSize,
          maxResumableUploadSize: options.maxResumableUploadSize,
          collections: granted.map(({ collection: name, ...described }) => ({ name, ...described })),
        };
        const { contentType, format } = negotiate(ctx.req.headers.accept);
        ctx.vary('Accept');
        ctx.body =
          format === 'json' ? serviceDocumentJson(document, options) : serviceDocument(document, options);
        ctx.set('Content-Type', contentType);
      },
    },
  });
}
