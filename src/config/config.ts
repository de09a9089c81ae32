import type { ArchiveLimits } from '../archives/archive-reader.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import type { UploadLimits } from '../modules/resumable-uploads/resumable-uploads.ts';
import type { NotificationSettings } from '../modules/webhooks/notification-settings.ts';
import type { PasswordCost } from '../tools/cryptography/password.ts';
import type { S3Place } from './s3-url.ts';

/** The configuration of a node. Sizes in bytes, times in milliseconds. */
export type Config = HttpSettings & {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** `null` for the listening address. */
  readonly baseUrl: string | null;
  readonly dataDir: string;
  readonly roles: readonly Role[];
  readonly eventLog: EventLogConfig;
  readonly archiveStore: ArchiveStoreConfig;
  /** Bytes of the views from which on snapshots of them are stored and used; 0 for none. */
  readonly viewSnapshotSize: number;
  /** Whether the operator confirms that acknowledged objects of an S3 store survive a power cut; `null` for unknown. */
  readonly s3Durable: boolean | null;
  readonly maxArchives: number;
  readonly maxHeadersSize: number;
  /** Time limit for the headers of a request to arrive. */
  readonly headersTime: number;
  /** Limits of resumable uploads; a `maxSize` of 0 disables them. */
  readonly uploadLimits: UploadLimits;
  readonly loaderIdentity: string;
  readonly logLevel: string;
  readonly archiveLimits: ArchiveLimits;
  readonly archiveWorkers: number;
  /** Pause after the first failed attempt of a check or a load; no setting changes it. */
  readonly reactionPause: number;
  /** Costs at which passwords are hashed; no setting changes them. */
  readonly passwordCost: PasswordCost;
  /** Time without a change after which the sweep looks for work that no delivery announced. */
  readonly stuckAfter: number;
  /** Address of the operator port, which serves metrics and through which commands find the service. */
  readonly operatorHost: string;
  readonly operatorPort: number;
  /** Whether every client that reaches the operator port may use it. */
  readonly operatorTrustNetwork: boolean;
  /** Whether traces are sent to the endpoint that the OpenTelemetry variables name. */
  readonly tracing: boolean;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly anchorKeyFile: string;
  /** File to which a line per anchor is appended; `null` to store anchors only in the log. */
  readonly anchorFile: string | null;
  /** Minutes between anchors; 0 for no anchors. */
  readonly anchorInterval: number;
  readonly webhooks: NotificationSettings;
  /** From where the console may be used. */
  readonly console: ConsoleAccess;
  /** Name of the user who runs commands, as recorded in events. */
  readonly operator: string;
};

/** `loopback`: by browsers on this machine, without a proxy. */
export type ConsoleAccess = 'off' | 'loopback' | 'public';

/** Role of a node: serve clients, or check and load deposits. */
export type Role = 'http' | 'reactors';

export type EventLogConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | ({ readonly kind: 'eventstoredb'; readonly connectionString: string } & EventStoreDbTimes);
/** Times in milliseconds that override those of the adapter; no setting changes them. */
export type EventStoreDbTimes = {
  /** Time limit of one call. */
  readonly callTimeout?: number;
  /** Time limit of all attempts of one call. */
  readonly retryTimeout?: number;
  /** Maximum pause between two attempts. */
  readonly longestPause?: number;
  /** Time without events after which a subscription checks for undelivered ones. */
  readonly quietTime?: number;
};
export type ArchiveStoreConfig =
  | { readonly kind: 'file'; readonly folder: string }
  | ({ readonly kind: 's3'; readonly accessKey: string; readonly secretKey: string } & S3Place);
