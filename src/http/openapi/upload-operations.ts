import { OFFSET_TYPE } from '../receiving/tus-headers.ts';
import { binaryContent } from './content.ts';
import type { OperationsOf } from './operation.ts';

const piece = binaryContent([OFFSET_TYPE]);

/** The tus protocol, as far as it is spoken here. */
export const UPLOAD_OPERATIONS: OperationsOf<'uploads' | 'upload'> = {
  uploads: {
    post: {
      id: 'beginUpload',
      tag: 'Uploads',
      summary: 'Begins an upload, with its first bytes or without any',
      parameters: [
        'tusResumable',
        'uploadLength',
        'uploadMetadata',
        'uploadChecksum',
        'methodOverride',
        'onBehalfOf',
      ],
      body: { description: 'The first bytes.', required: false, content: piece },
      answers: {
        201: {
          description: 'The upload is at Location.',
          headers: ['Location', 'TusResumable', 'UploadExpires', 'UploadOffsetOfPiece'],
        },
      },
      refusals: [
        'NotFound',
        'MediationNotAllowed',
        'TusVersionNotSupported',
        'ErrorChecksumMismatch',
        'MaxUploadSizeExceeded',
        'ErrorContent',
        'UploadChecksumMismatch',
      ],
    },
  },
  upload: {
    head: {
      id: 'getUpload',
      tag: 'Uploads',
      summary: 'How far an upload is',
      parameters: ['tusResumable'],
      answers: {
        200: {
          description: 'In its headers.',
          headers: ['TusResumable', 'UploadOffset', 'UploadLength', 'UploadExpires', 'UploadMetadata'],
        },
      },
      refusals: ['NotFound', 'TusVersionNotSupported'],
    },
    patch: {
      id: 'continueUpload',
      tag: 'Uploads',
      summary: 'Adds bytes to an upload',
      parameters: ['tusResumable', 'uploadOffset', 'uploadChecksum', 'methodOverride', 'onBehalfOf'],
      body: { description: 'The next bytes.', required: true, content: piece },
      answers: {
        204: {
          description: 'They are there for good.',
          headers: ['TusResumable', 'UploadOffset', 'UploadExpires'],
        },
      },
      refusals: [
        'NotFound',
        'Conflict',
        'MediationNotAllowed',
        'TusVersionNotSupported',
        'ErrorChecksumMismatch',
        'MaxUploadSizeExceeded',
        'ErrorContent',
        'UploadLocked',
        'UploadChecksumMismatch',
      ],
    },
    delete: {
      id: 'removeUpload',
      tag: 'Uploads',
      summary: 'Ends an upload and removes it',
      parameters: ['tusResumable', 'methodOverride', 'onBehalfOf'],
      answers: { 204: { description: 'It is gone.', headers: ['TusResumable'] } },
      refusals: ['NotFound', 'MediationNotAllowed', 'TusVersionNotSupported', 'UploadLocked'],
    },
  },
};
