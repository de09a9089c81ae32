import type { Iris } from '../../sword/iris.ts';

/** Leads programs to what describes every operation (RFC 8631). */
export const DESCRIPTION_RELATION = 'service-desc';

export function serviceDescriptionLink(iris: Iris): string {
  return `<${iris.openApi()}>; rel="${DESCRIPTION_RELATION}"; type="application/json"`;
}
