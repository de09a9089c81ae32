import htm from 'htm';
import { h, type VNode } from 'preact';

type Template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

/** Builds elements from a template. Values become text or properties, never markup. */
export const html: Template = (htm as unknown as { bind(create: typeof h): Template }).bind(h); // its types are of CommonJS
