import { randomBytes } from 'node:crypto';
import { TusUploads } from '../../testing/http/tus-uploads.ts';
import { drillClient } from '../service/drilled-service.ts';

/** System calls of the service that can be made to fail. strace counts them per thread. */
export type FailingCall = {
  readonly name: string;
  readonly what: string;
  readonly calls: string;
  /** Names of the threads that make them. */
  readonly threads: RegExp;
  /** Paths of the files, relative to the data folder; empty: all files. */
  readonly paths: readonly string[];
  /** Requests in addition to the creates. */
  readonly work?: (url: string) => Promise<void>;
  /** Milliseconds after the answers in which they come, if not before. */
  readonly after?: number;
};

const LOG = ['event-log.sqlite', 'event-log.sqlite-wal'];
const ROWS = ['archives/small.sqlite', 'archives/small.sqlite-wal'];
const VIEW = ['views/views.1.sqlite', 'views/views.1.sqlite-wal'];
const SYNCS = 'fsync,fdatasync';
const [LOG_WRITER, STORE_WRITER, POOL, MAIN] = [
  /^event-log-write/,
  /^store-writer/,
  /^libuv-worker/,
  /^node-MainThread/,
];

/** A write to a file by libuv differs from one that wakes its loop only if it has several parts: those are failed. */
export const FAILING_CALLS: readonly FailingCall[] = [
  { name: 'log-writes', what: 'writes of the log', calls: 'pwrite64', threads: LOG_WRITER, paths: LOG },
  { name: 'log-syncs', what: 'syncs of the log', calls: SYNCS, threads: LOG_WRITER, paths: LOG },
  {
    name: 'head-writes',
    what: 'writes of the head of the log',
    calls: 'pwrite64',
    threads: LOG_WRITER,
    paths: ['event-log.sqlite.head'],
  },
  {
    name: 'row-writes',
    what: 'writes of small archives',
    calls: 'pwrite64',
    threads: STORE_WRITER,
    paths: ROWS,
  },
  { name: 'row-syncs', what: 'syncs of small archives', calls: SYNCS, threads: STORE_WRITER, paths: ROWS },
  { name: 'file-writes', what: 'writes of large archives', calls: 'writev', threads: POOL, paths: [] },
  { name: 'file-syncs', what: 'syncs of large archives and folders', calls: SYNCS, threads: POOL, paths: [] },
  {
    name: 'renames',
    what: 'renames of large archives',
    calls: 'rename,renameat,renameat2',
    threads: STORE_WRITER,
    paths: [],
  },
  { name: 'folders', what: 'folders of large archives', calls: 'mkdir,mkdirat', threads: POOL, paths: [] },
  {
    name: 'view-writes',
    what: 'writes of the views',
    calls: 'pwrite64',
    threads: MAIN,
    paths: VIEW,
    after: 1000,
  },
  {
    name: 'upload-writes',
    what: 'writes of resumable uploads',
    calls: 'pwritev,pwrite64',
    threads: POOL,
    paths: [],
    work: uploadPiece,
  },
];

const PIECE = 300_000;

/** Checks that a chunk that was answered 204 is stored. @throws if it is not */
async function uploadPiece(url: string): Promise<void> {
  const uploads = new TusUploads(drillClient(url), 'drill');
  const created = await uploads.create(PIECE);
  const upload = created.headers.get('location');
  if (created.status !== 201 || upload === null) return assertPassing(created.status);
  const piece = await uploads.patch(upload, 0, randomBytes(PIECE));
  const there = await uploads.offset(upload);
  if (piece.status === 204 && there !== PIECE)
    throw new Error(`A chunk was answered 204 and ${there} bytes are there.`);
  if (piece.status !== 204) assertPassing(piece.status);
  const deleted = await uploads.delete(upload);
  if (deleted.status !== 204) assertPassing(deleted.status);
}

function assertPassing(status: number): void {
  if (status !== 503 && status !== 507)
    throw new Error(`An upload was answered ${status} on a failing disk.`);
}
