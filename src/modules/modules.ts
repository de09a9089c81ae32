import { anchors } from './anchors/module.ts';
import { webConsole } from './console/module.ts';
import { dryRun } from './dry-run/module.ts';
import type { Module } from './module.ts';
import { resumableUploads } from './resumable-uploads/module.ts';
import { statusEvents } from './status-events/module.ts';
import { webhooks } from './webhooks/module.ts';

/** The optional capabilities, in the order in which they are opened. A service without one of them reads all stored data. */
export const MODULES: readonly Module[] = [
  resumableUploads,
  dryRun,
  statusEvents,
  webhooks,
  anchors,
  webConsole,
];
