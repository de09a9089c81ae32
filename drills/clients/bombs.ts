import { gunzipSync, gzipSync } from 'node:zlib';
import { paxHeader, tarOf, zipOf } from '../../testing/archives/archive-builders.ts';

/** A small archive that would cost a careless reader much. */
export type Bomb = {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  /** Matches the reason of its rejection. */
  readonly reason: RegExp;
};

const MIB = 1024 ** 2;
const [TAR, ZIP] = ['application/x-tar', 'application/zip'];

/** Returns eight bombs, each of another kind. */
export function bombs(): Bomb[] {
  const zeros = Buffer.alloc(100 * MIB);
  return [
    {
      name: 'zip of zeros',
      type: ZIP,
      reason: /limit of the ratio/,
      bytes: zipOf([{ name: 'bomb/zeros', data: zeros }]),
    },
    {
      name: 'gzip of zeros',
      type: TAR,
      reason: /limit of the ratio/,
      bytes: gzipSync(tarOf([{ name: 'bomb/zeros', data: zeros }])),
    },
    {
      name: 'bzip2 of zeros',
      type: TAR,
      reason: /limit of the (ratio|unpacked size)/,
      bytes: unpacked(BZIP2_OF_A_GIBIBYTE, 1),
    },
    {
      name: 'xz of zeros',
      type: TAR,
      reason: /limit of the (ratio|unpacked size)/,
      bytes: unpacked(XZ_OF_A_GIBIBYTE, 2),
    },
    {
      name: 'too many members',
      type: ZIP,
      reason: /too many entries: more than 100000/,
      bytes: zipOf(manyMembers(), { zip64: true }),
    },
    {
      name: 'deep folders',
      type: TAR,
      reason: /limit of the depth is 64/,
      bytes: gzipSync(tarOf(deepFolders())),
    },
    { name: 'zips of zips', type: ZIP, reason: /an archive within an archive/, bytes: zipOfZips(5) },
    {
      name: 'tar of nothing',
      type: TAR,
      reason: /is empty/,
      bytes: Buffer.concat([tarOf([]), Buffer.alloc(18 * MIB)]),
    },
  ];
}

function manyMembers() {
  return Array.from({ length: 100_001 }, (_, number) => ({ name: `m/${number}` }));
}

function deepFolders() {
  return Array.from({ length: 2_000 }, (_, number) => {
    const path = `${'d/'.repeat(1_900)}${number}`;
    return [paxHeader({ path }), { name: 'd', data: 'deep' }];
  }).flat();
}

/** Returns zips in zips: ten at each depth. */
function zipOfZips(depth: number): Buffer {
  const inner = depth === 0 ? Buffer.alloc(10 * MIB) : zipOfZips(depth - 1);
  return zipOf(Array.from({ length: 10 }, (_, number) => ({ name: `${number}.zip`, data: inner })));
}

function unpacked(base64: string, times: number): Buffer {
  let bytes: Buffer = Buffer.from(base64, 'base64');
  for (let time = 0; time < times; time += 1) bytes = gunzipSync(bytes);
  return bytes;
}

/** A tar of one file of a gibibyte of zeros, packed with bzip2; the result repeats itself, so gzip makes it smaller. */
const BZIP2_OF_A_GIBIBYTE = [
  'H4sIAAAAAAACA3OKyrA0dIxUC47cxlIyi7XO8nbDyQYHhqcNjAxFTPMEGDgUGAoCMi4uOMHLEiRyqzmrapbZvJW/nixq0Fox',
  'lUFANMSr+HX29+W5DUCmB8fjs/mcGcImhqxJN89mZkk9N75mcT1srs+DEMZQl39JTZt8lm2SET66j2m/TANjAwODgANDIsOs',
  'nlYH7yBRRr1R+VH5wS+/i3u5BqPIzgkg+Qawihlcwb6iSs6JWi7t3TuV5mh4JEzb7sUAANmigSVYAwAA',
].join('');

/** A tar of one file of a gibibyte of zeros, packed with xz, and twice with gzip. */
const XZ_OF_A_GIBIBYTE = [
  'H4sIAAAAAAACA5Pv5mAAASbmtxfifa6yMrA+uM+6RINdqivo9fwwgUmFyZknT6TxXJsRkuBzYcm2gp07Dx26Nit7wyXDzQJT',
  'WK8scO1JzTiqFa7tNHlWcpDJ2rTVDQJbZ0iebZqS9/WOs7/tln2fa7Zt/uyrW1eTmilwpKfuX1peSEGqhiZH06nX/VtdlV47',
  'n/3O8tCbr2/7/b+Jz3sDJx5k98qeFZcx7879rU9cHt/7+fPm/H3hE++VWuV7pp2d1WT8kL9tWp3QqZWx5tUXt/0480dWvHXV',
  '68ft63Y//lD5e9Z9Od/7lpemfH78YuW9U2dCC+1b+mImBMzZ8fTnrGVH+g4eKq19KM6vP/f2ftNShXTn/BKVn4uF11afShdz',
  'WfRr/w05vj552b35Z305ty/d8/nNxa3OrPfTze/O27Ig0ej99qbHrYe/bjx6UtdS9/D83if/Nj0qOXvsS8/6b/d3Lsq7V7zx',
  'Yiq79qa0r3c27NhYW7bir0t0zK0b6zxems7l9/df9f7Fvp3fVi3smtb3MzV5Ze1sdimp7XYTw8znbfp4/cm8G8ee9gbH7ytL',
  'qT7UuLpb7dwVXS7/7Pq/V5x/a0177iu/YvbO7O97p++7/d/t1J2rqtF+63RjbtZ+unhu0sTk1cvm2v/8ePHu83NieitsSm6u',
  '0p7mWxc7xbbw7d/CyNDazNf7a7Vff2n8Lj7trdcO1fq3m952fpwoaa1mZhNmVPhwoYdzVt4h7edmtcXbLJMTC/3fPps/f807',
  'zf/LXy6f92/lHlMj5S0KEtVLViSvqj6/7MPRtdXzOe1/yP/7st7v/tQNW7glDBIONDAys/GMMkYZg5Sx4T9/xNfy3INz9je/',
  'lYn/+yrhQ3qc37/auLh7H546vlh6b8eq3NBQQ8cJ8vNLX6+xjJS8WC+a5OX1n8FSs/n/mSQmBgDD0i/lIwUAAA==',
].join('');
