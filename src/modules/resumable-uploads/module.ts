import type { HttpModule } from '../../http/http-module.ts';
import type { Module } from '../module.ts';
import { receiveUpload } from './http/receive-upload.ts';
import { tusMiddleware } from './http/tus-middleware.ts';
import { answerUploadErrors } from './http/upload-errors.ts';
import { uploadIri } from './http/upload-iri.ts';
import { uploadsIri } from './http/uploads-iri.ts';
import { openUploads } from './open-uploads.ts';

/** Archives that arrive in several requests, by the tus protocol. */
export const resumableUploads: Module = {
  name: 'resumable-uploads',
  async serve({ config, logger, resources }): Promise<HttpModule | undefined> {
    const uploads = resources.use(await openUploads(config, logger));
    if (!uploads) return undefined;
    return {
      name: 'resumable-uploads',
      maxResumableUploadSize: uploads.limits.maxSize,
      middleware: [tusMiddleware(uploads.limits), answerUploadErrors()],
      routes: ({ iris, bodyTimeouts }) => ({
        uploads: uploadsIri(uploads, iris, bodyTimeouts),
        upload: uploadIri(uploads, bodyTimeouts),
      }),
      archiveSource: ({ depositService, iris }) => ({
        receive: (ctx, named, announced, accepted, options) =>
          receiveUpload(ctx, named, announced, accepted, options, { uploads, depositService, iris }),
      }),
      stop: () => uploads.hurry(),
    };
  },
};
