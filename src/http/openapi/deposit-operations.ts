import { DOCUMENT_OFFERS } from '../../sword/headers/negotiate.ts';
import { LIST_OFFERS } from '../answering/answer-deposit-list.ts';
import { binaryContent, documentContent, entryContent, multipartContent } from './content.ts';
import type { Operations, OperationsOf } from './operation.ts';
import {
  ARCHIVE_TYPES,
  changed,
  created,
  deleted,
  notModified,
  OF_CONTENT,
  REFUSALS_OF_CONTENT,
  REFUSALS_OF_STATE,
  receiptContent,
} from './write-parts.ts';

const collection: Operations = {
  get: {
    id: 'listDeposits',
    tag: 'Deposits',
    summary: "COL-IRI: the client's own deposits of a collection, newest first",
    parameters: ['page', 'pageSize', 'status', 'origin', 'below', 'above'],
    answers: {
      200: {
        description: 'A page of them.',
        headers: ['PageLinks'],
        content: documentContent(LIST_OFFERS, 'DepositList', 'atom:feed'),
      },
    },
    refusals: ['NotFound'],
  },
  post: {
    id: 'createDeposit',
    tag: 'Deposits',
    summary: 'COL-IRI: a new deposit, from an archive, an entry, or both',
    description:
      'Final unless In-Progress is true. An entry that refers to something deposited before is a deposit of metadata alone, done at once.',
    parameters: ['dryRun', 'inProgress', 'slug', 'idempotencyKey', 'namedUpload', ...OF_CONTENT],
    body: {
      description: 'An archive, an Atom entry, or both in one body; none when Upload names an upload.',
      required: false,
      content: { ...binaryContent(ARCHIVE_TYPES), ...entryContent(), ...multipartContent(ARCHIVE_TYPES) },
    },
    answers: {
      200: {
        description: 'Of a dry run: what would become of the deposit.',
        content: documentContent(DOCUMENT_OFFERS, 'DryRun', 'atom:entry'),
      },
      201: created('The receipt of the new deposit; Location is its Edit-IRI.'),
    },
    refusals: ['Forbidden', ...REFUSALS_OF_CONTENT],
  },
};

const metadata: Operations = {
  get: {
    id: 'getReceipt',
    tag: 'Deposits',
    summary: 'Edit-IRI: the receipt of a deposit',
    parameters: ['ifNoneMatch'],
    answers: {
      200: { description: 'The receipt.', headers: ['ETag'], content: receiptContent },
      304: notModified,
    },
    refusals: ['NotFound'],
  },
  post: {
    id: 'addMetadata',
    tag: 'Deposits',
    summary: 'SE-IRI: adds metadata, or an archive with them, or completes the deposit',
    description:
      'Without a body it completes the deposit, however often it is sent. Final unless In-Progress is true.',
    parameters: [
      'inProgress',
      'slug',
      'idempotencyKey',
      'namedUpload',
      'ifMatch',
      'ifNoneMatch',
      ...OF_CONTENT,
    ],
    body: {
      description:
        'An Atom entry, an archive, or both in one body; none to complete the deposit, or when Upload names an upload.',
      required: false,
      content: { ...binaryContent(ARCHIVE_TYPES), ...entryContent(), ...multipartContent(ARCHIVE_TYPES) },
    },
    answers: {
      200: {
        description: 'The receipt of the completed deposit.',
        headers: ['ETag'],
        content: receiptContent,
      },
      201: created('The receipt; Location is the Edit-IRI.'),
    },
    refusals: ['Forbidden', ...REFUSALS_OF_CONTENT, ...REFUSALS_OF_STATE],
  },
  put: {
    id: 'replaceMetadata',
    tag: 'Deposits',
    summary: 'Edit-IRI: replaces what it brings; of a deposit that is done, adds metadata',
    description:
      'Final unless In-Progress is true. With X-Check-SWHID it is for deposits that are done only.',
    parameters: ['inProgress', 'slug', 'checkSwhid', 'ifMatch', 'ifNoneMatch', ...OF_CONTENT],
    body: {
      description: 'An Atom entry, or an entry and an archive in one body.',
      required: true,
      content: { ...entryContent(), ...multipartContent(ARCHIVE_TYPES) },
    },
    answers: { 204: changed },
    refusals: ['Forbidden', ...REFUSALS_OF_CONTENT, ...REFUSALS_OF_STATE],
  },
  delete: {
    id: 'deleteDeposit',
    tag: 'Deposits',
    summary: 'Edit-IRI: deletes a partial deposit',
    parameters: ['ifMatch', 'ifNoneMatch', 'onBehalfOf'],
    answers: { 204: deleted },
    refusals: REFUSALS_OF_STATE,
  },
};

export const DEPOSIT_OPERATIONS: OperationsOf<'collection' | 'metadata' | 'atom'> = {
  collection,
  metadata,
  atom: alias(metadata),
};

/** The same operations at another path. */
function alias(operations: Operations): Operations {
  return Object.fromEntries(
    Object.entries(operations).map(([method, one]) => [
      method,
      { ...one, id: `${one.id}AtAtom`, description: `As at …/metadata/. ${one.description ?? ''}`.trim() },
    ]),
  );
}
