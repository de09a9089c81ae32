import type { ArchiveLimits } from '../archives/archive-reader.ts';
import type { XmlLimits } from '../sword/entry/xml-tree.ts';
import type { BodyTimeouts } from './requests/request-body.ts';

/** The settings of HTTP; sizes in bytes. */
export type HttpSettings = {
  readonly maxUploadSize: number;
  readonly archiveLimits: ArchiveLimits;
  readonly maxEntrySize: number;
  /** Maximum number of parts of one multipart body. */
  readonly maxParts: number;
  /** Limits of metadata entries. */
  readonly xmlLimits: XmlLimits;
  readonly bodyTimeouts: BodyTimeouts;
  /** Maximum number of concurrent requests that change something. */
  readonly maxWrites: number;
  readonly depositNamespace: string;
  readonly refIdAliases: boolean;
  readonly trustProxy: boolean;
};
