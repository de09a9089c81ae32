type Policy = { readonly createScriptURL: (url: string) => string };

/** The one policy of the console: only scripts of its own become workers. */
let policy: Policy | undefined;

/** Starts a script of the console as a worker. */
export function openWorker({ href }: URL): Worker {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
  };
  policy ??= trustedTypes?.createPolicy('deposit-console', {
    createScriptURL: (url) => {
      if (new URL(url).origin !== location.origin)
        throw new TypeError(`${url} is not a script of the console.`);
      return url;
    },
  });
  return new Worker(policy ? policy.createScriptURL(href) : href, { type: 'module' });
}
