import type { Module } from '../module.ts';
import { startAnchoring } from './anchor-scheduler.ts';

/** Signed Merkle roots of the log, made at intervals. */
export const anchors: Module = {
  name: 'anchors',
  anchor: ({ log, config, logger }) => startAnchoring(log, config, logger),
};
