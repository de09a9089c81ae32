import { hash } from 'node:crypto';
import test from 'ava';
import { encodeListing } from '../../src/archives/tree/deposit-tree.ts';
import { mergeListings } from '../../src/archives/tree/merge-archives.ts';
import { tarOf } from '../../testing/archives/archive-builders.ts';
import { accepted } from './reading.ts';

test('the archives of a deposit may have a million members in total, and no more', async (t) => {
  const tar = tarOf(Array.from({ length: 20_000 }, (_, number) => ({ name: `f${number}`, data: '' })));
  const one = { sha256: hash('sha256', tar), listing: (await accepted(t, tar)).listing };
  const most = mergeListings(Array.from({ length: 50 }, () => one));
  t.like(most, { outcome: 'accepted', files: 20_000 });
  const more = mergeListings(Array.from({ length: 51 }, () => one));
  t.like(more, { outcome: 'refused', faults: { 0: { code: 'TOO_MANY_ENTRIES' } } });
});

test('the number of folders of a deposit is limited, including those that exist only in paths', async (t) => {
  const tar = (from: number) =>
    tarOf(Array.from({ length: 1600 }, (_, number) => ({ name: `${from + number}/${'d/'.repeat(40)}f` })));
  const listings = await Promise.all(
    [0, 1600, 3200, 4800].map(async (from) => {
      const bytes = tar(from);
      return { sha256: hash('sha256', bytes), listing: (await accepted(t, bytes)).listing };
    }),
  );
  t.like(mergeListings(listings.slice(0, 3)), { outcome: 'accepted', files: 4800 });
  const more = mergeListings(listings);
  t.like(more, { outcome: 'refused', faults: { 0: { code: 'TOO_MANY_ENTRIES' } } });
  t.regex(JSON.stringify(more), /too many folders: more than 250000 together/);
});

test('the total length of the paths of a deposit is limited, whatever each archive has', (t) => {
  const id = '0'.repeat(40);
  const leaf = { mode: '100644', id, length: 0, sha256: '0'.repeat(64), isArchive: false } as const;
  const members = Array.from(
    { length: 1024 },
    (_, number) => [`${number}/`.padEnd(4096, 'x'), leaf] as const,
  );
  const sha256 = hash('sha256', 'one');
  const one = { sha256, listing: encodeListing({ format: 'tar', sha256 }, new Map(members)) };
  const most = mergeListings(Array.from({ length: 16 }, () => one));
  t.like(most, { outcome: 'accepted', files: 1024 });
  const more = mergeListings(Array.from({ length: 17 }, () => one));
  t.like(more, { outcome: 'refused', faults: { 0: { code: 'PATHS_TOO_LARGE' } } });
});
