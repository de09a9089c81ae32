/*
 * The types of preact as far as the server needs them, which tsconfig.json names for `preact`. Its own types bring those
 * of the DOM into every file; the files of the browser, which have a tsconfig.json of their own, use them.
 */

export interface VNode {
  readonly type: unknown;
}

export type ComponentChild = VNode | string | number | boolean | null | undefined | readonly ComponentChild[];

export declare function h(type: unknown, props: object | null, ...children: readonly unknown[]): VNode;
