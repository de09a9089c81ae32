import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMITS, type FrozenCommit } from '../fixture.ts';

/** A checkout of the release that makes the data. Its modules are imported from there, never from this tree. */
export class OldRelease {
  readonly checkout: string;
  readonly commit: FrozenCommit;

  /** @throws if the folder is not a clean checkout of one of {@link COMMITS} */
  constructor(checkout: string) {
    this.checkout = path.resolve(checkout);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', this.checkout, ...args], { encoding: 'utf8' }).trim();
    const commit = git('rev-parse', 'HEAD');
    const found = COMMITS.find((known) => commit.startsWith(known));
    if (!found) throw new Error(`${checkout} is at ${commit}, not at ${COMMITS.join(' or ')}.`);
    this.commit = found;
    const changes = git('status', '--porcelain', '--untracked-files=no');
    if (changes !== '') throw new Error(`${checkout} has uncommitted changes:\n${changes}`);
  }

  import<Name extends keyof OldModules>(name: Name): Promise<OldModules[Name]> {
    return import(pathToFileURL(path.join(this.checkout, name)).href) as Promise<OldModules[Name]>;
  }
}

/** The parts of the old modules that are used here. Later releases may have others, so their types are not imported. */
export type OldModules = {
  readonly 'src/config.ts': { readonly readConfig: (env: NodeJS.ProcessEnv) => OldConfig };
  readonly 'src/service.ts': {
    readonly startService: (
      config: OldConfig & { readonly roles: readonly string[] },
      options: { readonly logger: unknown },
    ) => Promise<AsyncDisposable & { readonly url: string; readonly ready: Promise<void> }>;
  };
  readonly 'src/logger.ts': { readonly silentLogger: unknown };
  readonly 'src/engines.ts': {
    readonly openLog: (config: OldConfig) => Promise<OldLog>;
    readonly openStore: (config: OldConfig) => Promise<AsyncDisposable>;
  };
  readonly 'src/archives/threads/archive-workers.ts': {
    readonly ArchiveWorkers: new (options: {
      readonly size: number;
      readonly overlayTime: number;
      readonly onAborted: (error: unknown) => void;
    }) => AsyncDisposable;
  };
  readonly 'src/reactors/checker.ts': {
    readonly Checker: new (log: OldLog, store: unknown, reader: unknown, limits: unknown) => OldReactor;
  };
  readonly 'src/reactors/loader.ts': {
    readonly Loader: new (log: OldLog, store: unknown, reader: unknown, identity: string) => OldReactor;
  };
  readonly 'src/reactors/parking.ts': {
    readonly LogParking: new (
      log: OldLog,
    ) => {
      readonly park: (reactor: string, event: OldEvent, error: unknown) => Promise<void>;
    };
  };
  readonly 'src/reactors/causation.ts': {
    readonly causedBy: (event: OldEvent, reactor: string, step: string) => unknown;
  };
  readonly 'src/command-handler.ts': {
    readonly execute: (
      log: OldLog,
      aggregate: unknown,
      id: number,
      command: object,
      context: unknown,
    ) => Promise<unknown>;
  };
  readonly 'src/domain/aggregates.ts': { readonly deposits: unknown };
  readonly 'drills/service-process.ts': {
    readonly ServiceProcess: {
      readonly start: (dataDir: string, port: number, env: Env) => Promise<OldService>;
    };
  };
  readonly 'test/support/run-script.ts': {
    readonly runScript: (
      dataDir: string,
      command: string,
      args: readonly string[],
      options: { readonly input?: string; readonly env?: Env },
    ) => Promise<{ readonly code: number; readonly out: string; readonly err: string }>;
  };
  readonly 'test/support/eventstoredb-double/eventstoredb-double.ts': {
    readonly EventStoreDbDouble: { readonly start: () => Promise<OldDouble> };
  };
  readonly 'test/support/s3-server.ts': { readonly S3Server: { readonly start: () => Promise<OldS3Server> } };
};

export type Env = Record<string, string>;

export type OldConfig = {
  readonly archiveLimits: { readonly wallTime: number };
  readonly loaderIdentity: string;
};

export type OldEvent = { readonly id: string; readonly type: string; readonly revision: number };
export type OldLog = AsyncDisposable & { readonly readStream: (stream: string) => AsyncIterable<OldEvent> };

export type OldReactor = {
  readonly react: (event: OldEvent, signal: AbortSignal) => Promise<void>;
  readonly giveUp: (event: OldEvent, error: unknown) => Promise<void>;
};

export type OldService = {
  readonly url: string;
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
};

export type OldStoredEvent = {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly contentType: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  readonly position: bigint;
  readonly created: bigint;
};

export type OldGroup = {
  readonly settings: {
    readonly accepts: (stream: string) => boolean;
    readonly after?: bigint;
    readonly messageTimeout: number;
    readonly maxRetryCount: number;
    readonly isPinned: boolean;
  };
  readonly parked: readonly unknown[];
  readonly unacknowledged: number;
  readonly checkpoint: bigint | undefined;
  readonly lastKnown: bigint | undefined;
};

export type OldDouble = AsyncDisposable & {
  readonly connectionString: string;
  readonly log: {
    readonly all: readonly OldStoredEvent[];
    readonly stream: (name: string) => readonly OldStoredEvent[];
  };
  readonly groups: { readonly get: (name: string) => OldGroup | undefined };
  readonly faults: {
    readonly set: (call: 'append', fault: { readonly kind: 'hang' | 'commit and hang' }) => void;
    readonly clear: () => void;
  };
};

export type OldS3Server = AsyncDisposable & {
  readonly port: number;
  readonly options: { readonly accessKey: string; readonly secretKey: string };
  readonly buckets: ReadonlyMap<
    string,
    {
      readonly objects: ReadonlyMap<
        string,
        { readonly body: { readonly file: string }; readonly etag: string }
      >;
    }
  >;
};
