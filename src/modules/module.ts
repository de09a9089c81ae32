import type { ArchiveReader } from '../archives/archive-reader.ts';
import type { Config } from '../config/config.ts';
import type { Deliveries } from '../event-log/consumer-groups/deliveries.ts';
import type { EventLog } from '../event-log/event-log.ts';
import type { HttpModule } from '../http/http-module.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { EventLogParking } from '../reactors/parking.ts';
import type { NotificationViews } from '../reactors/sweep/notification-views.ts';
import type { Logger } from '../tools/logger.ts';
import type { Projector } from '../views/projector.ts';
import type { Anchoring } from './anchors/anchor-scheduler.ts';
import type { NotificationOptions, NotificationService } from './webhooks/notification-service.ts';

/** The parts of a node that modules may use. */
type ModuleParts = {
  readonly config: Config;
  readonly log: EventLog;
  readonly store: Pick<ObjectStore, 'id' | 'get' | 'stat'>;
  readonly deliveries: Deliveries;
  readonly parking: EventLogParking;
  readonly projector: Projector;
  readonly notified: NotificationViews;
  /** Returns the reader with its work observed. */
  readonly observedReader: (reader: ArchiveReader) => ArchiveReader;
  readonly logger: Logger;
  /** Disposes of what modules open, in reverse order. */
  readonly resources: AsyncDisposableStack;
  /** Ends the service. */
  readonly fail: (error: unknown) => void;
};

/**
 * An optional capability: behaviour only. Its event types, deciders and projections are in `domain` and `projections`, so
 * that stored events stay readable without it. Each function is called once, on the nodes that need it.
 */
export type Module = {
  readonly name: 'resumable-uploads' | 'dry-run' | 'status-events' | 'webhooks' | 'anchors' | 'console';
  /** Opens what it adds to HTTP, on a node that serves clients. Resolves to `undefined` if its settings switch it off. */
  readonly serve?: (parts: ModuleParts) => Promise<HttpModule | undefined>;
  /**
   * Starts its reactor, as `observed` returns it, on a node with reactors. `ready` resolves when the views have caught
   * up.
   */
  readonly react?: (
    parts: ModuleParts,
    about: Pick<NotificationOptions, 'baseUrl' | 'maker' | 'ready' | 'observed'>,
  ) => NotificationService;
  /** Starts to anchor the log, on every node. */
  readonly anchor?: (parts: ModuleParts) => Anchoring;
};
