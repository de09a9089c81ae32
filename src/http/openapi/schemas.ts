import { DEPOSIT_SCHEMAS } from './deposit-schemas.ts';
import { FEED_SCHEMAS } from './feed-schemas.ts';
import { SERVICE_SCHEMAS } from './service-schemas.ts';

/** What JSON looks like in every place where it is sent. */
export const SCHEMAS = { ...SERVICE_SCHEMAS, ...DEPOSIT_SCHEMAS, ...FEED_SCHEMAS };

export type SchemaName = keyof typeof SCHEMAS;
