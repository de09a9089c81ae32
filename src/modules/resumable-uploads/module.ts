import path from 'node:path';
import type { HttpModule } from '../../http/http-module.ts';
import type { ServiceMiddleware } from '../../http/service-context.ts';
import type { Module } from '../module.ts';
import { receiveUpload } from './http/receive-upload.ts';
import { tusMiddleware } from './http/tus-middleware.ts';
import { uploadHandler } from './http/upload-handler.ts';
import { uploadsHandler } from './http/uploads-handler.ts';
import { ResumableUploads } from './resumable-uploads.ts';

/** Archives that arrive in several requests, by the tus protocol. */
export const resumableUploads: Module = {
  name: 'resumable-uploads',
  async serve({ config, logger, resources }): Promise<HttpModule | undefined> {
    const { uploadLimits: limits, dataDir } = config;
    const folder = path.join(dataDir, 'uploads');
    const uploads = resources.use(await ResumableUploads.open({ folder, limits, logger }));
    if (limits.maxSize === 0) return undefined; // uploads of earlier settings still expire
    return {
      name: 'resumable-uploads',
      maxResumableUploadSize: limits.maxSize,
      middleware: [tusMiddleware(limits), unlockNamedUpload],
      routes: ({ iris, bodyTimeouts }) => ({
        uploads: uploadsHandler(uploads, iris, bodyTimeouts),
        upload: uploadHandler(uploads, bodyTimeouts),
      }),
      archiveSource:
        ({ queries, iris }) =>
        (ctx, archive, parts) =>
          receiveUpload(ctx, archive, parts, { uploads, queries, iris }),
      stop: () => uploads.hurry(),
    };
  },
};

const unlockNamedUpload: ServiceMiddleware = async (ctx, next) => {
  try {
    await next();
  } finally {
    ctx.state.namedUpload?.[Symbol.dispose]();
  }
};
