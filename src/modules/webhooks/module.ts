import type { Module } from '../module.ts';
import { NotificationService } from './notification-service.ts';
import { notificationsIri } from './notifications-iri.ts';

/** Notifications of clients about changes of status. */
export const webhooks: Module = {
  name: 'webhooks',
  serve: async ({ notified }) => ({
    name: 'webhooks',
    routes: ({ language }) => ({ notifications: notificationsIri(notified, language) }),
  }),
  react: (node, about) => new NotificationService({ ...node, ...about }),
};
