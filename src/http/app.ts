import { Router } from '@koa/router';
import Koa from 'koa';
import type { CollectionView } from '../../projections/collections.ts';
import type { DepositParts } from '../deposits/client-write.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { Iris } from '../sword/iris.ts';
import { notFound } from '../sword/sword-error.ts';
import type { Logger } from '../tools/logger.ts';
import type { View } from '../views/view.ts';
import type { HttpModule, PageParts } from './http-module.ts';
import type { HttpObserver } from './http-observer.ts';
import type { HttpSettings } from './http-settings.ts';
import { collectionHandler } from './iris/collection.ts';
import { contentHandler } from './iris/content.ts';
import { editHandler } from './iris/edit.ts';
import { fileHandler } from './iris/file.ts';
import { historyHandler } from './iris/history.ts';
import { mediaFeedHandler, mediaHandler } from './iris/media.ts';
import { resolveHandler } from './iris/resolve.ts';
import { collectionServiceHandler, serviceDocumentHandler } from './iris/service-document.ts';
import { STATEMENT_RDF_OFFERS, statementHandler } from './iris/statement.ts';
import { statusHandler } from './iris/status.ts';
import { answerErrors, type ErrorOptions } from './middleware/answer-errors.ts';
import { authenticate } from './middleware/credentials.ts';
import { health, type ReadinessChecks, unavailable } from './middleware/health.ts';
import { landingPage, noIcon, robots } from './middleware/landing-page.ts';
import { limitUnsent } from './middleware/limit-unsent.ts';
import { limitWrites } from './middleware/limit-writes.ts';
import { observeRequests } from './middleware/observe-requests.ts';
import { publicResources } from './middleware/public-resource.ts';
import { readTarget } from './middleware/request-target.ts';
import { serveOpenApi } from './middleware/serve-open-api.ts';
import { entryTurns } from './requests/receive-entry.ts';
import type { ReceivingParts } from './requests/receiving.ts';
import { writeChecker } from './requests/write-checks.ts';
import { DublinCoreCache } from './responses/dublin-core-cache.ts';
import { DOWNLOADS, LongAnswers } from './responses/long-answers.ts';
import { ResponseCache } from './responses/response-cache.ts';
import { OPEN_ROUTES, ROUTES, type RouteName } from './route-table.ts';
import type { Handler } from './server/server.ts';
import type { RequestState, ServiceMiddleware } from './service-context.ts';

/** The options of every node. */
export type AppOptions = {
  readonly logger: Logger;
  readonly readiness: ReadinessChecks;
  /** Resolves to how many events are parked. */
  readonly parked: () => Promise<number>;
  readonly observer: HttpObserver;
} & ErrorOptions;

/** The parts and settings of a node that serves clients. */
export type ServingOptions = HttpSettings &
  Omit<PageParts, 'queries' | 'isReady'> & {
    readonly deposits: DepositParts;
    readonly store: ObjectStore;
    readonly collections: View<CollectionView>;
    /** The optional capabilities that are on. */
    readonly modules: readonly HttpModule[];
  };

/** Returns the handler of all requests. Without `serving` the node answers questions about its health only. */
export function createHandler(options: AppOptions, serving?: ServingOptions): Handler {
  const app = new Koa<RequestState>();
  app.silent = true; // errors are answered and logged by answerErrors
  const scheme = serving?.baseUrl.startsWith('https:') ? 'https' : 'http';
  app.use(observeRequests({ ...options, scheme }));
  app.use(answerErrors(options.logger, options));
  app.use(limitUnsent(serving?.trustProxy ?? false));
  app.use(readTarget());
  app.use(publicResources(health(options.readiness, options.parked)));
  const cache = serving && new ResponseCache({ ...options, ...serving, scheme });
  if (serving && cache)
    addClientRoutes(app, { ...options, ...serving, cache, iris: new Iris(serving.baseUrl) });
  app.use((ctx) => {
    throw notFound(`There is nothing at ${ctx.path}.`);
  });
  const handle = app.callback();
  if (!serving || !cache) return handle;
  const { projector } = serving.deposits;
  return (req, res) => (projector.isCurrent && cache.answer(req, res) ? undefined : handle(req, res));
}

type Parts = AppOptions & ServingOptions & { readonly cache: ResponseCache; readonly iris: Iris };

function addClientRoutes(app: Koa<RequestState>, parts: Parts): void {
  const { modules, iris } = parts;
  const { maxResumableUploadSize } =
    modules.find((module) => module.maxResumableUploadSize !== undefined) ?? {};
  const clientParts = { ...parts, maxResumableUploadSize };
  app.use(
    publicResources(
      new Map([
        [OPEN_ROUTES.landingPage, landingPage(iris)],
        [
          OPEN_ROUTES.openApi,
          serveOpenApi({
            ...clientParts,
            maxArchives: parts.deposits.maxArchives,
            modules: new Set<string>(modules.map(({ name }) => name)),
          }),
        ],
        ['/robots.txt', robots],
        ['/favicon.ico', noIcon],
      ]),
    ),
  );
  const { projector, queries } = parts.deposits;
  const { credentials, resolver, objects, baseUrl, trustProxy } = parts;
  const isReady = () => projector.isCurrent;
  for (const { pages } of modules)
    if (pages) app.use(pages({ queries, credentials, resolver, objects, baseUrl, trustProxy, isReady }));
  for (const middleware of modules.flatMap((module) => module.middleware ?? [])) app.use(middleware);
  app.use((_ctx, next) => {
    if (projector.isCurrent) return next();
    throw unavailable('The views of the service are behind the event log: try again in a moment.');
  });
  app.use(authenticate(credentials, parts));
  app.use(limitWrites(parts.maxWrites));
  app.use(routes(clientParts));
}

function routes(
  parts: Parts & { readonly maxResumableUploadSize: number | undefined },
): Koa.Middleware<RequestState> {
  const { deposits, store, collections, resolver, iris, modules } = parts;
  const { queries } = deposits;
  const terms = new DublinCoreCache(store, parts.xmlLimits);
  const archiveSource = onlyOne(modules.flatMap((module) => module.archiveSource?.({ queries, iris }) ?? []));
  const receivingParts: ReceivingParts = { ...parts, archiveSource, terms, entryTurns: entryTurns() };
  const checkWrite = writeChecker({ deposits, collections, resolver, receivingParts });
  const all = { ...parts, queries, checkWrite, terms };
  const downloads = { store, longAnswers: new LongAnswers(DOWNLOADS) };
  const edit = editHandler(all);
  const dryRun = onlyOne(modules.flatMap((module) => module.dryRun?.(all) ?? []));
  const documentOptions = { ...parts, dryRun: dryRun !== undefined };
  const handlers: Partial<Record<RouteName, ServiceMiddleware>> = {
    serviceDocument: serviceDocumentHandler(collections, documentOptions),
    collectionService: collectionServiceHandler(collections, documentOptions),
    resolve: resolveHandler(resolver, parts.objects, parts),
    collection: collectionHandler(all, dryRun),
    metadata: edit,
    atom: edit,
    media: mediaHandler(all, downloads),
    mediaFeed: mediaFeedHandler(all),
    file: fileHandler(all, downloads),
    status: statusHandler(all),
    content: contentHandler(all),
    statement: statementHandler(all),
    statementRdf: statementHandler(all, STATEMENT_RDF_OFFERS),
    history: historyHandler(all),
  };
  for (const module of modules) Object.assign(handlers, module.routes?.(all));
  const router = new Router<RequestState>({ sensitive: true });
  for (const [name, path] of Object.entries(ROUTES)) {
    const handler = handlers[name as RouteName]; // the keys of the table
    if (handler) router.all(path, handler);
  }
  return router.routes() as Koa.Middleware<RequestState>; // Koa's and the router's types differ in the context only
}

function onlyOne<Item>(items: readonly Item[]): Item | undefined {
  if (items.length > 1) throw new Error('Two modules offer the same capability.');
  return items[0];
}
