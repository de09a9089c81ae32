import { resource } from '../../../http/iris/resource.ts';
import { refuseCodings } from '../../../http/requests/deposit-request.ts';
import { assertNoDryRun } from '../../../http/requests/dry-run-parameter.ts';
import { grantedCollection, paramsOf } from '../../../http/requests/path-names.ts';
import type { BodyTimeouts } from '../../../http/requests/request-body.ts';
import type { ServiceContext, ServiceMiddleware } from '../../../http/service-context.ts';
import { notFound } from '../../../sword/sword-error.ts';
import type { ResumableUploads } from '../resumable-uploads.ts';
import type { Upload } from '../upload.ts';
import { receiveChunk } from './receive-chunk.ts';
import { assertOffsetType, assertTusVersion, parseUploadChecksum, parseUploadOffset } from './tus-headers.ts';

/** One resumable upload: how far it is, more of it, its end before it was used. */
export function uploadHandler(uploads: ResumableUploads, bodyTimeouts: BodyTimeouts): ServiceMiddleware {
  return resource<Upload>({
    find: async (ctx) => {
      const collection = grantedCollection(ctx);
      const { upload: id } = paramsOf(ctx);
      const upload = uploads.find(id, { client: ctx.state.login.client, collection });
      if (!upload || upload.state.status === 'used') {
        const text = `There is no upload ${id} in the collection ${collection}; it may have been used or expired: start a new one.`;
        throw notFound(text);
      }
      assertNoDryRun(ctx);
      await upload.confirm();
      return upload;
    },
    handlers: {
      HEAD: async (ctx, upload) => {
        assertTusVersion(ctx.req.headers);
        await uploads.withoutStalled(upload);
        ctx.body = null; // of another method that was sent instead Koa would have the answer say OK
        ctx.status = 200;
        setUploadHeaders(ctx, upload);
        ctx.set('Upload-Length', String(upload.length));
        const { metadata } = upload.record;
        if (metadata !== null) ctx.set('Upload-Metadata', metadata);
      },
      PATCH: async (ctx, upload) => {
        const { headers } = ctx.req;
        assertTusVersion(headers);
        refuseCodings(headers);
        const offset = parseUploadOffset(headers);
        const checksum = parseUploadChecksum(headers);
        assertOffsetType(headers);
        await receiveChunk(ctx, upload, uploads, { offset, checksum }, bodyTimeouts);
        ctx.status = 204;
        setUploadHeaders(ctx, upload);
      },
      DELETE: async (ctx, upload) => {
        assertTusVersion(ctx.req.headers);
        using _hold = await uploads.hold(upload, { insists: true });
        await uploads.remove(upload);
        ctx.status = 204;
      },
    },
  });

  function setUploadHeaders(ctx: ServiceContext, upload: Upload): void {
    ctx.set('Upload-Offset', String(upload.offset));
    ctx.set('Upload-Expires', uploads.expiresAt(upload).toUTCString());
  }
}
