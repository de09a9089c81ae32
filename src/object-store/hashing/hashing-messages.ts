/** Lower-case hexadecimal digits; MD5 only if requested. */
export type BodyDigests = { readonly sha256: string; readonly md5: string | undefined };

export type HashingRequest =
  | {
      readonly kind: 'update';
      readonly session: number;
      readonly first: boolean;
      /** Whether the session computes MD5, too. */
      readonly md5: boolean;
      readonly batch: ArrayBuffer;
      readonly length: number;
    }
  | { readonly kind: 'digest' | 'end'; readonly session: number };

/** The reply to an update returns its batch for reuse. */
export type HashingReply = ArrayBuffer | BodyDigests | undefined;
