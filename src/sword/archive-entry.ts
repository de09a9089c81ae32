import type { Iris } from './iris.ts';
import { ORIGINAL_DEPOSIT, SWORD } from './namespaces.ts';
import { titleOf, urnOf } from './shown-deposit.ts';
import { depositedOn, STATED_PACKAGING, type StatedArchive, type Statement } from './statement.ts';
import { type BodyElement, element } from './xml-body.ts';

/** An archive of a deposit as an entry of a feed. */
export function archiveEntry(archive: StatedArchive, statement: Statement, iris: Iris): BodyElement {
  const { filename, mediaType: type, length } = archive;
  const file = iris.file(statement.collection, statement.depositId, archive.number);
  return element('entry', [
    element('id', `${urnOf(statement)}#archive-${archive.revision}`),
    element('title', filename),
    element('updated', archive.depositedOn),
    element('summary', `Archive ${filename} of ${titleOf(statement)}`),
    element('category', '', { scheme: SWORD, term: ORIGINAL_DEPOSIT, label: 'Original Deposit' }),
    element('content', '', { src: file, type }),
    element('link', '', { rel: 'edit-media', href: file, type, length: String(length) }),
    element('sword:packaging', STATED_PACKAGING),
    element('sword:depositedOn', depositedOn(archive)),
    element('sword:depositedBy', statement.author),
    element('depositns:sha256', archive.sha256),
  ]);
}
