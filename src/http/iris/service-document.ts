import type { CollectionView } from '../../../projections/collections.ts';
import { render } from '../../sword/documents/render.ts';
import { serviceDocument } from '../../sword/documents/service-document.ts';
import { DOCUMENT_OFFERS, negotiate } from '../../sword/headers/accept.ts';
import type { Iris } from '../../sword/iris.ts';
import type { View } from '../../views/view.ts';
import type { HttpSettings } from '../http-settings.ts';
import { serviceDescriptionLink } from '../middleware/landing-page.ts';
import { collectionNamed, grantedCollection } from '../requests/path-names.ts';
import { answerDocument } from '../responses/representation.ts';
import type { ServiceContext, ServiceMiddleware } from '../service-context.ts';
import { resource } from './resource.ts';

type ServiceDocumentOptions = Pick<HttpSettings, 'depositNamespace' | 'maxUploadSize' | 'archiveLimits'> & {
  readonly iris: Iris;
  /** `undefined`: archives come whole. */
  readonly maxResumableUploadSize: number | undefined;
  /** Whether dry runs are possible. */
  readonly dryRun: boolean;
};

/** SD-IRI: the collections of the client that asks. */
export function serviceDocumentHandler(
  collections: View<CollectionView>,
  options: ServiceDocumentOptions,
): ServiceMiddleware {
  return resource({
    find: async () => undefined,
    handlers: {
      GET: async (ctx) => {
        const granted = ctx.state.login.collections.flatMap((name) => collections.get(name) ?? []);
        answer(ctx, granted, { isOfCollection: false }, options);
      },
    },
  });
}

/** The service document of one collection, to which that of the client leads. */
export function collectionServiceHandler(
  collections: View<CollectionView>,
  options: ServiceDocumentOptions,
): ServiceMiddleware {
  return resource<CollectionView>({
    find: async (ctx) => collectionNamed(collections, grantedCollection(ctx)),
    handlers: {
      GET: async (ctx, collection) => answer(ctx, [collection], { isOfCollection: true }, options),
    },
  });
}

function answer(
  ctx: ServiceContext,
  collections: readonly CollectionView[],
  { isOfCollection }: { readonly isOfCollection: boolean },
  options: ServiceDocumentOptions,
): void {
  const document = {
    maxUploadSize: options.maxUploadSize,
    maxResumableUploadSize: options.maxResumableUploadSize,
    archiveLimits: options.archiveLimits,
    clientDomain: ctx.state.login.domain ?? undefined,
    dryRun: options.dryRun,
    collections: collections.map(({ collection: name, ...described }) => ({ name, ...described })),
    isOfCollection,
  };
  const { contentType, format } = negotiate(DOCUMENT_OFFERS, ctx.req.headers.accept);
  ctx.vary('Accept');
  ctx.set('Link', serviceDescriptionLink(options.iris));
  answerDocument(ctx, contentType, render(serviceDocument(document, options), format, options));
}
