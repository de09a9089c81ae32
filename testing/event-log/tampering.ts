import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { JsonObject, NewEvent } from '../../src/event-log/event-log.ts';
import { sealAfter } from '../../src/event-log/integrity/hash-chain.ts';
import { lastEventOf, writeHead } from '../../src/event-log/sqlite/head-file.ts';

/** Changes that the owner of the log's file can make with SQL. Each returns a description of its change. */

export function deleteLastEvent(file: string): string {
  return withDatabase(file, (database) => {
    const stream = streamInTheMiddle(database);
    const sql =
      'DELETE FROM events WHERE stream = ? AND revision = (SELECT max(revision) FROM events WHERE stream = ?)';
    database.prepare(sql).run(stream.id, stream.id);
    return stream.name;
  });
}

/** Changes the first event of a stream, with fitting hashes. */
export function rewriteStream(file: string): string {
  return withDatabase(file, (database) => {
    const stream = streamInTheMiddle(database);
    const rows = database
      .prepare(
        'SELECT position, type, data, metadata, hex(id) AS id FROM events WHERE stream = ? ORDER BY revision',
      )
      .all(stream.id) as Record<string, string>[];
    const events = rows.map(({ id = '', type = '', data = '', metadata = '' }, index): NewEvent => {
      const { hash: _hash, prevHash: _prevHash, ...rest } = JSON.parse(metadata) as JsonObject;
      const original = JSON.parse(data) as JsonObject;
      const uuid = id.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
      return {
        id: uuid,
        type,
        data: index === 0 ? { ...original, slug: 'never-said' } : original,
        metadata: rest,
      };
    });
    const update = database.prepare('UPDATE events SET data = ?, metadata = ? WHERE position = ?');
    for (const [index, event] of sealAfter(stream.name, 'none', null, events).entries()) {
      const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)];
      update.run(data, metadata, (rows[index] as Record<string, string>)['position'] as string);
    }
    return stream.name;
  });
}

export function removeWithoutTrace(file: string): string {
  return withFreshHead(file, (database) => {
    const stream = streamInTheMiddle(database);
    const last = database
      .prepare('SELECT max(position) AS position FROM events WHERE stream = ?')
      .get(stream.id) as { position: number };
    database.prepare('DELETE FROM events WHERE position = ?').run(last.position);
    database.prepare('UPDATE events SET position = -position WHERE position > ?').run(last.position);
    database.exec('UPDATE events SET position = -position - 1 WHERE position < 0');
    return stream.name;
  });
}

/** Does {@link rewriteStream}, and removes the anchors that would not fit from the log. */
export function rewriteAndForgetAnchors(file: string): string {
  const rewritten = rewriteStream(file);
  return withFreshHead(file, (database) => {
    const anchors = "SELECT id FROM streams WHERE name = 'anchors'";
    database.exec(`
      CREATE TEMP TABLE kept AS
        SELECT position, row_number() OVER (ORDER BY position) AS place FROM events WHERE stream NOT IN (${anchors});
      DELETE FROM events WHERE stream IN (${anchors});
      DELETE FROM streams WHERE name = 'anchors';
      UPDATE events SET position = -(SELECT place FROM kept WHERE kept.position = events.position);
      UPDATE events SET position = -position;
      DROP TABLE kept;
    `);
    return rewritten;
  });
}

/** Continues a stream at a position where readers of the whole log do not look, with fitting hashes. */
export function goOnBeforeTheFirst(file: string): string {
  return withDatabase(file, (database) => {
    const stream = streamInTheMiddle(database);
    const last = database
      .prepare('SELECT revision, metadata FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1')
      .get(stream.id) as { revision: number; metadata: string };
    const id = '00000000-0000-4000-8000-000000000001';
    const event = { id, type: 'DepositDeleted', data: {}, metadata: { schemaVersion: 1 } };
    const { hash } = JSON.parse(last.metadata) as { hash: string };
    const [sealed] = sealAfter(stream.name, last.revision, hash, [event]);
    database
      .prepare("INSERT INTO events VALUES (-5, ?, ?, ?, 'DepositDeleted', '{}', ?)")
      .run(
        stream.id,
        last.revision + 1,
        Buffer.from(id.replaceAll('-', ''), 'hex'),
        JSON.stringify(sealed?.metadata),
      );
    return stream.name;
  });
}

/** Leaves a rollback journal next to the file, by which SQLite gives it the contents of another file, or none. */
export function leaveJournal(file: string, other?: string): void {
  const contents = other === undefined ? Buffer.alloc(0) : readFileSync(other);
  const pageSize = contents.length > 0 ? contents.readUInt16BE(16) : 4096;
  const pages = contents.length / pageSize;
  const header = Buffer.alloc(512);
  header.write('d9d505f920a163d7', 'hex');
  for (const [index, value] of [pages, 0, pages, header.length, pageSize].entries())
    header.writeUInt32BE(value, 8 + 4 * index);
  const records = Array.from({ length: pages }, (_, index) => {
    const page = contents.subarray(index * pageSize, (index + 1) * pageSize);
    let checksum = 0;
    for (let at = pageSize - 200; at > 0; at -= 200) checksum += page[at] ?? 0;
    return [uint32(index + 1), page, uint32(checksum)];
  });
  writeFileSync(`${file}-journal`, Buffer.concat([header, ...records.flat()]));
}

type Stream = { readonly id: number; readonly name: string };

/** Returns a deposit that was loaded, neither among the first nor the last. */
function streamInTheMiddle(database: DatabaseSync): Stream {
  const sql = `SELECT streams.id, name FROM events JOIN streams ON streams.id = events.stream
    WHERE type = 'DepositLoaded' ORDER BY position LIMIT 1
    OFFSET (SELECT count(*) / 2 FROM events WHERE type = 'DepositLoaded')`;
  return database.prepare(sql).get() as Stream;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Writes the head file to match the log, as an attacker who can write one can write the other. */
function withFreshHead<T>(file: string, work: (database: DatabaseSync) => T): T {
  return withDatabase(file, (database) => {
    const done = work(database);
    const head = lastEventOf(database)();
    rmSync(`${file}.head`);
    if (head) writeHead(file, head);
    return done;
  });
}

function withDatabase<T>(file: string, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
