import type { CollectionView } from '../../projections/collections.ts';
import type { ObjectReader } from '../contents/object-reader.ts';
import type { Resolver } from '../contents/resolver.ts';
import type { DepositQueries } from '../deposits/queries.ts';
import type { RenderContext } from '../sword/documents/document.ts';
import type { Credentials } from './middleware/credentials.ts';
import type { OptionalModule } from './middleware/open-api-document.ts';
import type { ArchiveSource } from './requests/receiving.ts';
import type { BodyTimeouts } from './requests/request-body.ts';
import type { CheckWrite } from './requests/write-checks.ts';
import type { RouteName } from './route-table.ts';
import type { ServiceContext, ServiceMiddleware } from './service-context.ts';

/** The parts of the core that modules with routes may use. */
type HttpParts = RenderContext & {
  readonly queries: DepositQueries;
  readonly credentials: Credentials;
  readonly refIdAliases: boolean;
  readonly bodyTimeouts: BodyTimeouts;
  readonly checkWrite: CheckWrite;
};

/** The parts of the core that pages of a module may use. */
export type PageParts = {
  readonly queries: DepositQueries;
  readonly credentials: Credentials;
  readonly resolver: Resolver;
  readonly objects: ObjectReader;
  readonly baseUrl: string;
  readonly trustProxy: boolean;
  readonly isReady: () => boolean;
};

/** A command of operators: the body of the request, and the result that is sent as JSON. */
export type OperatorRoute = (request: unknown) => Promise<unknown>;

/** The additions of an optional module to HTTP. */
export type HttpModule = {
  readonly name: OptionalModule | 'console';
  /** Answers requests for paths of its own, with an authentication of its own; calls `next` for all others. */
  readonly pages?: (parts: PageParts) => ServiceMiddleware;
  /** Commands at the operator port, by method and path. */
  readonly operatorRoutes?: Readonly<Record<string, OperatorRoute>>;
  /** Runs before authentication, in the order given. */
  readonly middleware?: readonly ServiceMiddleware[];
  /** Maximum bytes of an archive that arrives in several requests. */
  readonly maxResumableUploadSize?: number;
  readonly routes?: (parts: HttpParts) => Partial<Record<RouteName, ServiceMiddleware>>;
  /** Receives an archive that a request names in place of a body. */
  readonly archiveSource?: (parts: Pick<HttpParts, 'queries' | 'iris'>) => ArchiveSource;
  /** Checks a new deposit without making it. */
  readonly dryRun?: (parts: HttpParts) => DryRunHandler;
  /** Ends answers that would otherwise never end, when the service stops. */
  readonly stop?: () => void;
};

/** Answers a POST to a collection with what the checks find. */
export type DryRunHandler = (ctx: ServiceContext, collection: CollectionView) => Promise<void>;
