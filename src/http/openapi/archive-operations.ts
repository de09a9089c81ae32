import { MEDIA_FEED_OFFERS } from '../answering/answer-media-feed.ts';
import { binaryContent, documentContent, multipartContent } from './content.ts';
import type { OperationsOf } from './operation.ts';
import {
  ARCHIVE_TYPES,
  changed,
  created,
  notModified,
  OF_CONTENT,
  REFUSALS_OF_CONTENT,
  REFUSALS_OF_STATE,
} from './write-parts.ts';

const body = {
  description: 'An archive, by itself or as a part of a body; none when Upload names an upload.',
  required: false,
  content: { ...binaryContent(ARCHIVE_TYPES), ...multipartContent(ARCHIVE_TYPES, { entry: false }) },
} as const;

const parameters = [
  'inProgressOfArchives',
  'slug',
  'namedUpload',
  'ifMatch',
  'ifNoneMatch',
  ...OF_CONTENT,
] as const;
const refusals = ['Forbidden', ...REFUSALS_OF_CONTENT, ...REFUSALS_OF_STATE] as const;
const digests = ['ReprDigest', 'ContentDigest'] as const;

export const ARCHIVE_OPERATIONS: OperationsOf<'media' | 'file'> = {
  media: {
    get: {
      id: 'getArchives',
      tag: 'Archives',
      summary: 'EM-IRI: the archive byte for byte, several as a zip; or a feed of them',
      parameters: ['acceptPackaging', 'ifNoneMatch'],
      answers: {
        200: {
          description: 'The bytes; or the feed, where Accept prefers it.',
          headers: ['ETag', 'ContentDispositionOfBytes', 'Packaging', ...digests],
          content: {
            ...binaryContent(ARCHIVE_TYPES),
            ...documentContent(MEDIA_FEED_OFFERS, 'ArchiveFeed', 'atom:feed'),
          },
        },
        304: { ...notModified, headers: ['ETag', 'Packaging'] },
      },
      refusals: ['NotFound', 'NotAcceptable'],
    },
    post: {
      id: 'addArchive',
      tag: 'Archives',
      summary: 'EM-IRI: adds an archive',
      parameters: [...parameters, 'idempotencyKey'],
      body,
      answers: { 201: created('The receipt; Location is the EM-IRI.') },
      refusals,
    },
    put: {
      id: 'replaceArchives',
      tag: 'Archives',
      summary: 'EM-IRI: replaces all archives by one',
      parameters,
      body,
      answers: { 204: changed },
      refusals,
    },
    delete: {
      id: 'removeArchives',
      tag: 'Archives',
      summary: 'EM-IRI: removes all archives',
      parameters: ['ifMatch', 'ifNoneMatch', 'onBehalfOf'],
      answers: { 204: changed },
      refusals: REFUSALS_OF_STATE,
    },
  },
  file: {
    get: {
      id: 'getArchive',
      tag: 'Archives',
      summary: 'File-IRI: one archive byte for byte',
      parameters: ['ifNoneMatch'],
      answers: {
        200: {
          description: 'The bytes.',
          headers: ['ETag', 'ContentDisposition', ...digests],
          content: binaryContent(ARCHIVE_TYPES),
        },
        304: notModified,
      },
      refusals: ['NotFound'],
    },
    put: {
      id: 'replaceArchive',
      tag: 'Archives',
      summary: 'File-IRI: replaces one archive, which keeps its number',
      parameters,
      body,
      answers: { 204: changed },
      refusals,
    },
    delete: {
      id: 'removeArchive',
      tag: 'Archives',
      summary: 'File-IRI: removes one archive',
      parameters: ['ifMatch', 'ifNoneMatch', 'onBehalfOf'],
      answers: { 204: changed },
      refusals: REFUSALS_OF_STATE,
    },
  },
};
