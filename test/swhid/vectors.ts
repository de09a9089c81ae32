import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Vectors that several independent programs agree on; see `meta` in the file for their encodings. */
export const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/swhid-vectors.json', import.meta.url), 'utf8'),
);

export type Vectors = {
  content: { id: string; sha1_git: string; sha256: string; data_base64?: string; data_repeat?: Repeat }[];
  directory: { id: string; swhid: string; entries?: TreeVector[]; tree_body_hex?: string }[];
  mode_mapping: { mode_octal: string; tar_or_disk_after_normalisation: string; zip: string }[];
  revision: RevisionVector[];
  release: ReleaseVector[];
  snapshot: { id: string; swhid: string; branches: BranchVector[]; body_base64: string }[];
  qualified: QualifiedVector[];
  invalid_strings: string[];
  archives: (ArchiveVector & { id: string; expected: string })[];
  merges: { id: string; archives: ArchiveVector[]; expected: string }[];
};

export type Repeat = { byte_hex: string; count: number };

export type TreeVector = {
  name_hex: string;
  kind: 'file' | 'exec' | 'link' | 'dir';
  data_base64?: string;
  link_target_base64?: string;
  entries?: TreeVector[];
};

export type TimeVector = { seconds: number; microseconds: number; offset: string };

export type RevisionVector = {
  id: string;
  swhid: string;
  directory: string;
  parents: string[];
  author: string;
  author_date: TimeVector;
  committer: string;
  committer_date: TimeVector;
  extra_headers: [string, string][];
  message_base64: string | null;
  body_base64: string;
};

export type ReleaseVector = {
  id: string;
  swhid: string;
  target: string;
  target_type: 'directory' | 'revision';
  name_base64: string;
  author: string | null;
  date: TimeVector | null;
  message_base64: string | null;
  body_base64: string;
};

export type BranchVector = {
  name_base64: string;
  target_type: 'content' | 'directory' | 'revision' | 'release' | 'snapshot' | 'alias' | 'dangling';
  target: string | null;
};

export type QualifiedVector = {
  id: string;
  string: string;
  core: string;
  origin: string | null;
  visit: string | null;
  anchor: string | null;
  path_base64: string | null;
  lines: string | null;
};

export type ArchiveVector = {
  base64?: string;
  archive_base64?: string;
  archive_gzip_base64?: string;
  encoding?: string;
};

export function archiveBytes(vector: ArchiveVector): Buffer {
  const encoded = vector.base64 ?? vector.archive_base64 ?? vector.archive_gzip_base64 ?? '';
  const bytes = Buffer.from(encoded, 'base64');
  return vector.encoding === undefined ? bytes : gunzipSync(bytes);
}
