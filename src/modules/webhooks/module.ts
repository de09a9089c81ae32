import type { Module } from '../module.ts';
import { NotificationService } from './notification-service.ts';
import { notificationsHandler } from './notifications-handler.ts';

/** Notifications of clients about changes of status. */
export const webhooks: Module = {
  name: 'webhooks',
  serve: async ({ notified }) => ({
    name: 'webhooks',
    routes: (parts) => ({ notifications: notificationsHandler(notified, parts) }),
  }),
  react: (node, about) => new NotificationService({ ...node, ...about }),
};
