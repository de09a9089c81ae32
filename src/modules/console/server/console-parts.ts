import type { DepositSearchView } from '../../../../projections/deposit-search.ts';
import type { DepositStatusView } from '../../../../projections/deposit-status.ts';
import type { PersonView } from '../../../../projections/people.ts';
import type { Config } from '../../../config/config.ts';
import type { EventLog } from '../../../event-log/event-log.ts';
import type { PageParts } from '../../../http/http-module.ts';
import type { ObjectStore } from '../../../object-store/object-store.ts';
import type { EventLogParking } from '../../../reactors/parking.ts';
import type { Logger } from '../../../tools/logger.ts';
import type { Projector } from '../../../views/projector.ts';
import type { View } from '../../../views/view.ts';
import type { OneTimeCodes } from '../access/one-time-codes.ts';
import type { Sessions, Viewer } from '../access/sessions.ts';
import type { VisibleDeposits } from '../listing/visible-deposits.ts';
import type { Assets } from './assets.ts';

/** The parts of a node that the console uses. */
export type NodeParts = PageParts & {
  readonly config: Config;
  readonly log: EventLog;
  readonly parking: EventLogParking;
  readonly store: Pick<ObjectStore, 'id' | 'get' | 'stat'>;
  readonly projector: Projector;
  readonly logger: Logger;
  readonly people: View<PersonView>;
  readonly depositSearch: View<DepositSearchView>;
  readonly statuses: View<DepositStatusView>;
  readonly codes: OneTimeCodes;
  /** Whether browsers reach the console by https. Clients may reach the service by another scheme. */
  readonly isHttps: boolean;
};

/** The parts of a node and of the console that routes use. */
export type ConsoleParts = Omit<NodeParts, 'depositSearch'> & {
  /** Returns the deposits that exist for a viewer. */
  readonly depositsOf: (viewer: Pick<Viewer, 'scope'>) => VisibleDeposits;
  readonly sessions: Sessions;
  readonly assets: Assets;
  /** Disposes of what routes open when the service stops. */
  readonly resources: DisposableStack;
};
