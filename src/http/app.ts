import { Router } from '@koa/router';
import Koa from 'koa';
import type { CollectionView } from '../../projections/collections.ts';
import type { ObjectReader } from '../contents/object-reader.ts';
import type { Resolver } from '../contents/resolver.ts';
import type { DepositService } from '../deposits/deposit-service.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Generator } from '../sword/documents/document.ts';
import type { XmlLimits } from '../sword/entry/xml-tree.ts';
import { Iris } from '../sword/iris.ts';
import { notFound } from '../sword/sword-error.ts';
import type { Logger } from '../tools/logger.ts';
import type { View } from '../views/view.ts';
import type { HttpModule } from './http-module.ts';
import type { HttpObserver } from './http-observer.ts';
import { collectionIri } from './iris/collection.ts';
import { contentIri } from './iris/content.ts';
import { editIri } from './iris/edit.ts';
import { fileIri } from './iris/file.ts';
import { historyIri } from './iris/history.ts';
import { mediaIri } from './iris/media.ts';
import { resolveIri } from './iris/resolve.ts';
import { collectionServiceIri, serviceDocumentIri } from './iris/service-document.ts';
import { statementIri } from './iris/statement.ts';
import { statusIri } from './iris/status.ts';
import { answerErrors } from './middleware/answer-errors.ts';
import { authenticate } from './middleware/authenticate.ts';
import type { Credentials } from './middleware/credentials.ts';
import { health, type ReadinessChecks, refuseUntil } from './middleware/health.ts';
import { landingPage } from './middleware/landing-page.ts';
import { limitWrites } from './middleware/limit-writes.ts';
import { observeRequests } from './middleware/observe-requests.ts';
import { readTarget } from './middleware/request-target.ts';
import { serveOpenApi } from './middleware/serve-open-api.ts';
import type { ReceiveOptions } from './requests/receive-content.ts';
import type { BodyTimeouts } from './requests/request-body.ts';
import { DepositDocuments } from './responses/answer-documents.ts';
import { DublinCoreCache } from './responses/dublin-core-cache.ts';
import { ResponseCache } from './responses/response-cache.ts';
import { ROUTES, type RouteName } from './route-table.ts';
import type { Handler } from './server/server.ts';
import type { ServiceMiddleware, ServiceState } from './service-context.ts';
import { DepositWrites } from './writes/deposit-writes.ts';
import { loadedDepositsLookup } from './writes/reference-target.ts';

/** The options of every node. */
export type AppOptions = {
  readonly logger: Logger;
  readonly readiness: ReadinessChecks;
  /** Resolves to how many events are parked. */
  readonly parked: () => Promise<number>;
  readonly depositNamespace: string;
  readonly generator: Generator;
  readonly observer: HttpObserver;
};

/** The parts and settings of a node that serves clients. */
export type ClientOptions = {
  readonly depositService: DepositService;
  readonly store: ObjectStore;
  readonly credentials: Credentials;
  readonly collections: View<CollectionView>;
  readonly resolver: Resolver;
  readonly objects: ObjectReader;
  /** Whether the views get on with the log: they have caught up, and are not held up since. */
  readonly ready: () => boolean;
  readonly baseUrl: string;
  readonly depositNamespace: string;
  readonly refIdAliases: boolean;
  readonly generator: Generator;
  readonly maxUploadSize: number;
  readonly maxEntrySize: number;
  readonly maxArchives: number;
  readonly maxParts: number;
  readonly xmlLimits: XmlLimits;
  readonly bodyTimeouts: BodyTimeouts;
  readonly maxWrites: number;
  readonly trustProxy: boolean;
  /** The optional capabilities that are on. */
  readonly modules: readonly HttpModule[];
};

/** Returns the handler of all requests. Without `clients` the node answers questions about its health only. */
export function createHandler(options: AppOptions, clients?: ClientOptions): Handler {
  if (!clients) {
    return createApp(options).callback();
  }
  const answers = new ResponseCache({ ...options, ...clients });
  const handle = createApp(options, { ...clients, answers }).callback();
  return (req, res) => {
    return clients.ready() && answers.answer(req, res) ? undefined : handle(req, res);
  };
}

type Answering = ClientOptions & { readonly answers: ResponseCache };

function createApp(options: AppOptions, clients?: Answering): Koa<ServiceState> {
  const app = new Koa<ServiceState>();
  app.silent = true; // errors are answered and logged by answerErrors
  app.use(observeRequests(options.logger, options.observer));
  app.use(answerErrors(options.logger, options));
  app.use(readTarget());
  app.use(health(options.readiness, options.parked));
  if (clients) {
    const iris = new Iris(clients.baseUrl);
    app.use(landingPage(iris));
    const modules = new Set(clients.modules.map(({ name }) => name));
    const maxResumableUploadSize = maxResumableUploadSizeOf(clients.modules);
    app.use(serveOpenApi({ ...options, ...clients, iris, maxResumableUploadSize, modules }));
    for (const middleware of clients.modules.flatMap((module) => module.middleware ?? []))
      app.use(middleware);
    app.use(refuseUntil(clients.ready));
    app.use(authenticate(clients.credentials, clients.trustProxy));
    app.use(limitWrites(clients.maxWrites));
    app.use(routes({ ...options, ...clients }));
  }
  app.use((ctx) => {
    throw notFound(`There is nothing at ${ctx.path}.`);
  });
  return app;
}

function routes(options: AppOptions & Answering): Koa.Middleware<ServiceState> {
  const { depositService, store, collections, maxUploadSize, maxEntrySize, maxArchives, depositNamespace } =
    options;
  const { modules, answers } = options;
  const iris = new Iris(options.baseUrl);
  const language = { ...options, iris };
  const terms = new DublinCoreCache(store, options.xmlLimits);
  const documents = new DepositDocuments({
    ...language,
    switches: () => depositService.viewGeneration,
    terms,
  });
  const receive: ReceiveOptions = {
    store,
    maxUploadSize,
    maxEntrySize,
    maxParts: options.maxParts,
    xmlLimits: options.xmlLimits,
    bodyTimeouts: options.bodyTimeouts,
    depositNamespace,
    observer: options.observer,
    archiveSource: onlyOne(
      modules.flatMap((module) => module.archiveSource?.({ depositService, iris }) ?? []),
    ),
    terms,
  };
  const lookup = loadedDepositsLookup(depositService, options.resolver);
  const writes = new DepositWrites(depositService, documents, collections, {
    receive,
    iris,
    maxArchives,
    things: lookup,
  });
  const maxResumableUploadSize = maxResumableUploadSizeOf(modules);
  const served = { iris, depositNamespace, maxUploadSize, maxResumableUploadSize };
  const edit = editIri(writes, depositService);
  const parts = {
    depositService,
    credentials: options.credentials,
    iris,
    language,
    lookup,
    bodyTimeouts: options.bodyTimeouts,
    receive,
  };
  const dryRun = onlyOne(modules.flatMap((module) => module.dryRun?.(parts) ?? []));
  const handlers: Partial<Record<RouteName, ServiceMiddleware>> = {
    serviceDocument: serviceDocumentIri(collections, served),
    collectionService: collectionServiceIri(collections, served),
    resolve: resolveIri(options.resolver, options.objects, language),
    collection: collectionIri(writes, depositService, language, dryRun),
    metadata: edit,
    atom: edit,
    media: mediaIri(writes, store, depositService, language),
    file: fileIri(writes, store, depositService),
    status: statusIri(depositService, documents, answers),
    content: contentIri(depositService, documents, answers),
    statement: statementIri(depositService, language, answers),
    history: historyIri(depositService, language),
  };
  for (const module of modules) Object.assign(handlers, module.routes?.(parts));
  const router = new Router<ServiceState>({ sensitive: true });
  for (const [name, path] of Object.entries(ROUTES)) {
    const handler = handlers[name as RouteName]; // the keys of the table
    if (handler) router.all(path, handler);
  }
  return router.routes() as Koa.Middleware<ServiceState>; // Koa's and the router's types differ in the context only
}

function maxResumableUploadSizeOf(modules: readonly HttpModule[]): number | undefined {
  return modules.find((module) => module.maxResumableUploadSize !== undefined)?.maxResumableUploadSize;
}

function onlyOne<Item>(items: readonly Item[]): Item | undefined {
  if (items.length > 1) throw new Error('Two modules offer the same capability.');
  return items[0];
}
