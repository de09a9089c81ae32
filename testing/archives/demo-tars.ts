import { type TarSpec, tarOf } from './archive-builders.ts';

/** A project whose tar has several bzip2 blocks. */
export const demoFiles = [
  { name: 'demo/README.md', data: 'A small project.\n' },
  { name: 'demo/long.txt', data: 'again and again '.repeat(20_000) },
] as const;

const [readme, long] = demoFiles;
const directory = { type: '5', mode: 0o755 };
const demoMembers: TarSpec[] = [
  { name: 'demo/', ...directory },
  readme,
  { name: 'demo/empty/', ...directory },
  long,
];

export const demoTar = tarOf(demoMembers);

// The same bytes as `bzip2 -1` and `xz` packed them: Node can do neither.
export const demoTarBzip2 = Buffer.from(
  'QlpoMTFBWSZTWVnuDnIAbgPfgcqQQAH/gCYCGghut95gAAQICDAA7SBJJNTxE0aNAA9RoGgaGNNBoAZNAZGmhiaMClVAQGQB6gA0Mhp6nC+kqLDBwVRBLJQ1t4Yy0pHCykIuBkSEmVc+U10SC+qiQWT57eju2b9xg5TqyIRWDIRYwIdOfTo9JQYGgza5cZvUGhycRKMRWbikfIjCmbnmGjVdnuhcyViQIQApMkCILCokF95SSC7zbm8ySCz6ccn56nJp3KiQXp7Zc+/Zqn7USC0EkFwazbxc2bQb838Y46jVpxOxgv8xQVkmU1lyfBHzADDSEQBAACShIABwMAClJoeaJQWBKC4koLcEoLqJQWCUFolBaRKC8iUFglBfMUFZJlNZg1OTSgC3EhEAQAAkoSAAcDAApU00ZEoL0JQWIlBaiUFwSgsiUFpEoLyJQXBKC+YoKyTKay8cf43gBKxaIBgACAAElCABBAAOCGBAmqKGTuY3R34gViQK8SBXEgVhArSBXJIFdSBXNIFZX4u5IpwoSDxid1KA',
  'base64',
);
export const demoTarXz = Buffer.from(
  '/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj5O//AQldADIZSf7XMh5YjpMZbQsBgqCTtMpT7TiQIMsntt85FBZoeyFp5+GJpscpS3OflgeRZEnJJdKF4a7FFJFmODIow00nEjRZ3TAOmJ0+XYihkbKK4n4hBuDzkW6JgtFNMti+S/BBwc9WeDOo0Bp8IZ94D/d3TVl0ndXZSZ501hdl1n/Woej9WwyMJwHgLY0bqM7d8GFGl8J5XM+13H2ZG5WhZP0WSObp0hVUf4OZblfDxZ1zeqe+x/kVKEZiVshPFGMXszmq7sR3WQj79Xp833zxDOvuaQayJwNJ5zieddKFyrqNuwwwN50tl3ppHW/7S4gQbELLiD9cAI/QTq8mKJRrs1zbYFw0Rb9IAAAAAAAATfD/+HXr2IMAAaUCgOATAOkgENWxxGf7AgAAAAAEWVo=',
  'base64',
);
