import { generatorElement } from './generator.ts';
import type { Iris } from './iris.ts';
import type { Language } from './language.ts';
import { ATOM, ORIGINAL_DEPOSIT, STATE_SCHEME, SWORD } from './namespaces.ts';
import { FEED_TYPE } from './negotiate.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import { depositedOn, STATED_PACKAGING, type StatedArchive, type Statement, stateIri } from './statement.ts';
import { type BodyElement, element, xmlBody } from './xml-body.ts';

/** The Statement as an Atom feed with an entry for each archive (SWORD 2.0, section 11.3). */
export function statementFeed(statement: Statement, { iris, depositNamespace, generator }: Language): string {
  const { collection, depositId } = statement;
  const feed = [
    element('id', `${urnOf(statement)}#statement`),
    element('title', `Statement of ${titleOf(statement)}`),
    element('updated', statement.updatedAt),
    element('author', [element('name', statement.author)]),
    generatorElement(generator),
    element('link', '', { rel: 'self', href: iris.statement(collection, depositId), type: FEED_TYPE }),
    ...stateElements(statement, stateIri(statement, depositNamespace)),
    ...statement.archives.map((archive) => archiveEntry(archive, statement, iris)),
  ];
  return xmlBody(element('feed', feed), { defaultNamespace: ATOM, depositNamespace });
}

/** As the profile has it, and as client libraries older than its last edition look for it. */
function stateElements({ status, statusDetail }: Statement, iri: string): BodyElement[] {
  return [
    element('category', statusDetail, { scheme: STATE_SCHEME, term: iri, label: status }),
    element('sword:state', [element('sword:stateDescription', statusDetail)], { href: iri }),
  ];
}

function archiveEntry(archive: StatedArchive, statement: Statement, iris: Iris): BodyElement {
  const src = iris.media(statement.collection, statement.depositId);
  return element('entry', [
    element('id', `${urnOf(statement)}#archive-${archive.revision}`),
    element('title', archive.filename),
    element('updated', archive.depositedOn),
    element('summary', `Archive ${archive.filename} of ${titleOf(statement)}`),
    element('category', '', { scheme: SWORD, term: ORIGINAL_DEPOSIT, label: 'Original Deposit' }),
    element('content', '', { src, type: statement.mediaType }),
    element('sword:packaging', STATED_PACKAGING),
    element('sword:depositedOn', depositedOn(archive)),
    element('sword:depositedBy', statement.author),
  ]);
}
