import type { AnyProjection } from '../src/views/projection.ts';
import { clientLogins } from './client-logins.ts';
import { clientWebhooks } from './client-webhooks.ts';
import { collections } from './collections.ts';
import { deletedDeposits } from './deleted-deposits.ts';
import { depositContent } from './deposit-content.ts';
import { depositSearch } from './deposit-search.ts';
import { depositStatus } from './deposit-status.ts';
import { loadedObjects } from './loaded-objects.ts';
import { people } from './people.ts';
import { recordedNotifications } from './recorded-notifications.ts';
import { undeliveredNotifications } from './undelivered-notifications.ts';

export const everyView = [
  depositStatus,
  depositContent,
  loadedObjects,
  clientLogins,
  collections,
  clientWebhooks,
  undeliveredNotifications,
  recordedNotifications,
  deletedDeposits,
  people,
  depositSearch,
].map(
  (projection) => projection as unknown as AnyProjection, // each is only ever given its own views and events
);
