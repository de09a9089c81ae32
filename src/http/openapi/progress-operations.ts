import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import { HISTORY_OFFERS } from '../iris/history-iri.ts';
import { STATEMENT_OFFERS } from '../iris/statement-iri.ts';
import { documentContent, jsonContent } from './content.ts';
import type { Answer, OperationsOf } from './operation.ts';
import { notModified } from './write-parts.ts';

const stream: Answer = {
  description: 'Server-Sent Events: status or deleted, their data JSON as DepositNews has it.',
  headers: ['XAccelBuffering'],
  content: { 'text/event-stream': { schema: { type: 'string' } } },
};

/** What only tells of deposits. */
export const PROGRESS_OPERATIONS: OperationsOf<
  'status' | 'content' | 'statement' | 'history' | 'events' | 'collectionEvents' | 'notifications'
> = {
  status: {
    get: {
      id: 'getStatus',
      tag: 'Progress',
      summary: 'State-IRI: how a deposit is doing',
      parameters: ['ifNoneMatch'],
      answers: {
        201: {
          description: 'The status. The interface states this code for it.',
          headers: ['ETag', 'RetryWhileOnItsWay'],
          content: documentContent(DOCUMENT_OFFERS, 'Status', 'atom:entry'),
        },
        304: { ...notModified, headers: ['ETag', 'RetryWhileOnItsWay'] },
      },
      refusals: ['NotFound'],
    },
  },
  content: {
    get: {
      id: 'getContent',
      tag: 'Progress',
      summary: 'CONT-FILE-IRI: what a deposit is',
      parameters: ['ifNoneMatch'],
      answers: {
        200: {
          description: 'The content.',
          headers: ['ETag'],
          content: documentContent(DOCUMENT_OFFERS, 'Content', 'atom:entry'),
        },
        304: notModified,
      },
      refusals: ['NotFound'],
    },
  },
  statement: {
    get: {
      id: 'getStatement',
      tag: 'Progress',
      summary: 'The SWORD Statement: the state of a deposit and its archives',
      parameters: ['ifNoneMatch'],
      answers: {
        200: {
          description: 'The Statement, as a feed or a resource map.',
          headers: ['ETag'],
          content: documentContent(STATEMENT_OFFERS, 'Statement', 'atom:feed or rdf:RDF'),
        },
        304: notModified,
      },
      refusals: ['NotFound'],
    },
  },
  history: {
    get: {
      id: 'getHistory',
      tag: 'Progress',
      summary: 'What has happened to a deposit, oldest first',
      parameters: ['from', 'ifNoneMatch'],
      answers: {
        200: {
          description: 'A page of events.',
          headers: ['ETag'],
          content: documentContent(HISTORY_OFFERS, 'History', 'atom:feed'),
        },
        304: notModified,
      },
      refusals: ['NotFound'],
    },
  },
  events: {
    get: {
      id: 'followDeposit',
      tag: 'Notifications',
      summary: 'The changes of a deposit as they happen',
      parameters: ['lastEventId'],
      answers: {
        200: stream,
        204: { description: 'Nothing follows: it is done or deleted, and all has been told.' },
      },
      refusals: ['NotFound'],
    },
  },
  collectionEvents: {
    get: {
      id: 'followCollection',
      tag: 'Notifications',
      summary: 'The changes of all deposits of the client in a collection as they happen',
      parameters: ['lastEventId'],
      answers: { 200: stream },
      refusals: ['NotFound'],
    },
  },
  notifications: {
    get: {
      id: 'listUndelivered',
      tag: 'Notifications',
      summary: 'What the webhook of the client has not taken',
      answers: {
        200: { description: 'What waits and what was given up.', content: jsonContent('Undelivered') },
      },
      refusals: ['NotFound'],
    },
  },
};
