import type { Iris } from '../../sword/iris.ts';

/** Link relation of the OpenAPI document (RFC 8631). */
export const DESCRIPTION_RELATION = 'service-desc';

export function serviceDescriptionLink(iris: Iris): string {
  return `<${iris.openApi()}>; rel="${DESCRIPTION_RELATION}"; type="application/json"`;
}
