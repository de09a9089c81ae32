import { Router } from '@koa/router';
import Koa from 'koa';
import type { CollectionView } from '../../projections/collections.ts';
import type { ArchiveStore } from '../archive-store/archive-store.ts';
import type { Logger } from '../logger.ts';
import type { NotificationViews } from '../notifications/notification-views.ts';
import type { View } from '../read-models/projector.ts';
import type { ObjectBytes } from '../resolving/object-bytes.ts';
import type { Resolver } from '../resolving/resolver.ts';
import type { Generator } from '../sword/documents/generator.ts';
import type { XmlLimits } from '../sword/entry/xml-tree.ts';
import { Iris } from '../sword/iris.ts';
import { notFound } from '../sword/sword-error.ts';
import type { ResumableUploads } from '../uploads/resumable-uploads.ts';
import { DepositDocuments } from './answering/answer-documents.ts';
import { answerErrors } from './answering/answer-errors.ts';
import { EntryTerms } from './answering/entry-terms.ts';
import { landingPage } from './answering/landing-page.ts';
import { OPTIONAL_MODULES } from './answering/open-api-document.ts';
import { RememberedAnswers } from './answering/remembered-answers.ts';
import { serveOpenApi } from './answering/serve-open-api.ts';
import { authenticate } from './authenticate.ts';
import type { Handler } from './connections/server.ts';
import type { Credentials } from './credentials.ts';
import type { DepositDesk } from './deposit-desk.ts';
import type { EventStreams } from './events/event-streams.ts';
import { health, type ReadinessChecks, refuseUntil } from './health.ts';
import type { HttpObserver } from './http-observer.ts';
import { collectionIri } from './iris/collection-iri.ts';
import { contentIri } from './iris/content-iri.ts';
import { editIri } from './iris/edit-iri.ts';
import { collectionEventsIri, depositEventsIri } from './iris/events-iri.ts';
import { fileIri } from './iris/file-iri.ts';
import { historyIri } from './iris/history-iri.ts';
import { mediaIri } from './iris/media-iri.ts';
import { notificationsIri } from './iris/notifications-iri.ts';
import { resolveIri } from './iris/resolve-iri.ts';
import { collectionServiceIri, serviceDocumentIri } from './iris/service-document-iri.ts';
import { statementIri } from './iris/statement-iri.ts';
import { statusIri } from './iris/status-iri.ts';
import { uploadIri } from './iris/upload-iri.ts';
import { uploadsIri } from './iris/uploads-iri.ts';
import { observeRequests } from './observe-requests.ts';
import { answerUploadFaults } from './receiving/answer-upload-faults.ts';
import { boundWrites } from './receiving/bound-writes.ts';
import { type DryRunPlaces, DryRuns } from './receiving/dry-run.ts';
import { loadedThings } from './receiving/metadata-target.ts';
import type { Patience } from './receiving/request-body.ts';
import { tusRequests } from './receiving/tus-requests.ts';
import { DepositWrites } from './receiving/write-deposits.ts';
import { readTarget } from './request-target.ts';
import { ROUTES, type RouteName } from './route-table.ts';
import type { ServiceMiddleware, ServiceState } from './service-context.ts';
import { traceRequests } from './trace-requests.ts';

/** What every node answers with. */
export type AppOptions = {
  readonly logger: Logger;
  readonly readiness: ReadinessChecks;
  /** Resolves to how many events are parked. */
  readonly parked: () => Promise<number>;
  readonly depositNamespace: string;
  readonly generator: Generator;
  readonly observer: HttpObserver;
  readonly tracing: boolean;
};

/** What a node that serves clients speaks for, and what it needs of it. */
export type ClientOptions = {
  readonly desk: DepositDesk;
  readonly store: ArchiveStore;
  readonly credentials: Credentials;
  readonly collections: View<CollectionView>;
  readonly eventStreams: EventStreams;
  readonly notified: NotificationViews;
  readonly resolver: Resolver;
  readonly objects: ObjectBytes;
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
  readonly patience: Patience;
  readonly maxWrites: number;
  readonly trustProxy: boolean;
  readonly dryRuns: DryRunPlaces;
  /** `undefined`: archives come whole. */
  readonly uploads: ResumableUploads | undefined;
};

/** A node that serves no clients only tells how it is. */
export function createHandler(options: AppOptions, clients?: ClientOptions): Handler {
  if (!clients) {
    return createApp(options).callback();
  }
  const answers = new RememberedAnswers({ ...options, ...clients });
  const handle = createApp(options, { ...clients, answers }).callback();
  return (req, res) => {
    return clients.ready() && answers.answer(req, res) ? undefined : handle(req, res);
  };
}

type Answering = ClientOptions & { readonly answers: RememberedAnswers };

function createApp(options: AppOptions, clients?: Answering): Koa<ServiceState> {
  const app = new Koa<ServiceState>();
  app.silent = true; // errors are answered and logged by answerErrors
  if (options.tracing) app.use(traceRequests());
  app.use(observeRequests(options.logger, options.observer));
  app.use(answerErrors(options.logger, options));
  app.use(readTarget());
  app.use(health(options.readiness, options.parked));
  if (clients) {
    const iris = new Iris(clients.baseUrl);
    app.use(landingPage(iris));
    const maxResumableUploadSize = clients.uploads?.limits.maxSize;
    const modules = OPTIONAL_MODULES.filter((name) => name !== 'resumable-uploads' || clients.uploads);
    app.use(
      serveOpenApi({ ...options, ...clients, iris, maxResumableUploadSize, modules: new Set(modules) }),
    );
    if (clients.uploads) app.use(tusRequests(clients.uploads.limits));
    app.use(answerUploadFaults());
    app.use(refuseUntil(clients.ready));
    app.use(authenticate(clients.credentials, clients.trustProxy));
    app.use(boundWrites(clients.maxWrites));
    app.use(routes({ ...options, ...clients }));
  }
  app.use((ctx) => {
    throw notFound(`There is nothing at ${ctx.path}.`);
  });
  return app;
}

function routes(options: AppOptions & Answering): Koa.Middleware<ServiceState> {
  const { desk, store, collections, maxUploadSize, maxEntrySize, maxArchives, depositNamespace } = options;
  const { uploads, answers } = options;
  const iris = new Iris(options.baseUrl);
  const language = { ...options, iris };
  const terms = new EntryTerms(store, options.xmlLimits);
  const documents = new DepositDocuments({ ...language, switches: () => desk.viewSwitches, terms });
  const nameable = uploads && { uploads, desk, iris };
  const receive = {
    store,
    maxUploadSize,
    maxEntrySize,
    maxParts: options.maxParts,
    xmlLimits: options.xmlLimits,
    patience: options.patience,
    depositNamespace,
    observer: options.observer,
    nameable,
    terms,
  };
  const things = loadedThings(desk, options.resolver);
  const writes = new DepositWrites(desk, documents, collections, { receive, iris, maxArchives, things });
  const served = { iris, depositNamespace, maxUploadSize, maxResumableUploadSize: uploads?.limits.maxSize };
  const events = { streams: options.eventStreams, credentials: options.credentials, language };
  const edit = editIri(writes, desk);
  const dryRuns = new DryRuns(options.dryRuns, things, receive);
  const handlers: Readonly<Record<RouteName, ServiceMiddleware | undefined>> = {
    serviceDocument: serviceDocumentIri(collections, served),
    collectionService: collectionServiceIri(collections, served),
    resolve: resolveIri(options.resolver, options.objects, language),
    collection: collectionIri(writes, desk, language, dryRuns),
    uploads: uploads && uploadsIri(uploads, iris, options.patience),
    upload: uploads && uploadIri(uploads, options.patience),
    metadata: edit,
    atom: edit,
    media: mediaIri(writes, store, desk, language),
    file: fileIri(writes, store, desk),
    status: statusIri(desk, documents, answers),
    content: contentIri(desk, documents, answers),
    statement: statementIri(desk, language, answers),
    collectionEvents: collectionEventsIri(events),
    notifications: notificationsIri(options.notified),
    events: depositEventsIri(desk, events),
    history: historyIri(desk, language),
  };
  const router = new Router<ServiceState>({ sensitive: true });
  for (const [name, path] of Object.entries(ROUTES)) {
    const handler = handlers[name as RouteName]; // the keys of the table
    if (handler) router.all(path, handler);
  }
  return router.routes() as Koa.Middleware<ServiceState>; // Koa's and the router's types differ in the context only
}
