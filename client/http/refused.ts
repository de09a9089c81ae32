import { childrenOf, readXml, textOf } from '../documents/xml-tree.ts';
import { EXIT, Fault } from '../faults.ts';
import type { Answer } from './answer.ts';
import { linkInHeader } from './link-header.ts';
import { isTransient } from './losses.ts';

/** Content of a refusal: from the SWORD error document, if the server sent one. */
export type Refusal = {
  readonly title: string | null;
  readonly summary: string | null;
  readonly verboseDescription: string | null;
  /** IRI of the type of error. */
  readonly error: string | null;
};

/** The server refused the request or answered unexpectedly. */
export class Refused extends Fault {
  override readonly name = 'Refused';
  readonly status: number;
  readonly iri: string;
  readonly refusal: Refusal;
  /** Edit-IRI of the deposit that is why, such as the one that a reused key has created. */
  readonly edit: string | null;

  constructor(answer: Answer) {
    const refusal = refusalIn(answer);
    // The exit code is that of an unreachable server, since the caller may retry later.
    super(sentencesOf(answer, refusal), { exitCode: isTransient(answer) ? EXIT.unreachable : EXIT.failed });
    this.status = answer.status;
    this.iri = answer.iri;
    this.refusal = refusal;
    this.edit = linkInHeader(answer.headers['link'], 'edit');
  }

  /**
   * Whether this try is certainly not recorded, and would be refused again. After 5xx it may be recorded. After 409
   * another request with its key may be. Earlier tries may be recorded in any case.
   */
  get isFinal(): boolean {
    return this.exitCode === EXIT.failed && this.status < 500 && this.status !== 409;
  }

  override facts(): Readonly<Record<string, unknown>> {
    return { ...super.facts(), status: this.status, iri: this.iri, ...this.refusal };
  }
}

const NOTHING: Refusal = { title: null, summary: null, verboseDescription: null, error: null };

function refusalIn({ body, iri }: Answer): Refusal {
  if (body.length === 0) return NOTHING;
  try {
    const root = readXml(body, `The error at ${iri}`);
    if (root.local !== 'error') return NOTHING;
    return {
      title: textOf(root, 'title'),
      summary: textOf(root, 'summary'),
      verboseDescription: textOf(root, 'verboseDescription'),
      error: root.attributes.get('href') ?? childrenOf(root, 'error')[0]?.text ?? null,
    };
  } catch {
    return NOTHING; // a proxy may answer in HTML
  }
}

function sentencesOf({ method, iri, status, headers }: Answer, refusal: Refusal): string {
  const { title, summary, verboseDescription } = refusal;
  if (status >= 300 && status < 400) {
    const target = headers['location'] ?? 'nowhere';
    return `${method} ${iri} was redirected (${status}) to ${target}. Redirects are not followed with a password: give the right address as --server.`;
  }
  const verdict = isTransient({ status }) && status !== 408 ? 'is not ready' : 'refused';
  const head = `The server ${verdict}: ${status}${title === null ? '' : ` ${title}`}.`;
  const said = [summary, verboseDescription === summary ? null : verboseDescription];
  const sentences = said.filter((text) => text !== null);
  if (sentences.length === 0) sentences.push(`${method} ${iri}: ${guessOf(status)}`);
  return [head, ...sentences].join('\n');
}

/** Returns what a refusal without a reason means. */
function guessOf(status: number): string {
  if (status !== 413) return 'the server gave no reason.';
  return 'a proxy limits the size of requests. Ask the operator of the server to raise its limit.';
}
