import { packagingOf } from '../../headers/packaging.ts';
import type { Iris } from '../../iris.ts';
import { ORIGINAL_DEPOSIT, SWORD } from '../../namespaces.ts';
import { type BodyElement, element } from '../../xml/xml-body.ts';
import { titleOf, urnOf } from '../deposit-model.ts';
import { depositedOn, type StatedArchive, type Statement } from '../statement/statement.ts';

/** Renders an archive of a deposit as a feed entry. */
export function archiveEntry(archive: StatedArchive, statement: Statement, iris: Iris): BodyElement {
  const { filename, mediaType: type, length } = archive;
  const file = fileOf(archive, statement, iris);
  return element('entry', [
    element('id', idOf(archive, statement)),
    element('title', filename),
    element('updated', archive.depositedOn),
    element('summary', summaryOf(archive, statement)),
    element('category', '', { scheme: SWORD, term: ORIGINAL_DEPOSIT, label: 'Original Deposit' }),
    element('content', '', { src: file, type }),
    element('link', '', { rel: 'edit-media', href: file, type, length: String(length) }),
    element('sword:packaging', packagingOf(archive)),
    element('sword:depositedOn', depositedOn(archive)),
    element('sword:depositedBy', statement.author),
    element('depositns:sha256', archive.sha256),
  ]);
}

/** Returns the same facts for JSON. */
export function archiveFacts(archive: StatedArchive, statement: Statement, iris: Iris) {
  const { filename, mediaType: type, length } = archive;
  const file = fileOf(archive, statement, iris);
  return {
    id: idOf(archive, statement),
    title: filename,
    updated: archive.depositedOn,
    summary: summaryOf(archive, statement),
    category: ORIGINAL_DEPOSIT,
    content: { src: file, type },
    links: [{ rel: 'edit-media', href: file, type, length }],
    packaging: packagingOf(archive),
    deposited_on: depositedOn(archive),
    deposited_by: statement.author,
    sha256: archive.sha256,
  };
}

function fileOf({ number }: StatedArchive, { collection, depositId }: Statement, iris: Iris): string {
  return iris.file(collection, depositId, number);
}

function idOf({ revision }: StatedArchive, statement: Statement): string {
  return `${urnOf(statement)}#archive-${revision}`;
}

function summaryOf({ filename }: StatedArchive, statement: Statement): string {
  return `Archive ${filename} of ${titleOf(statement)}`;
}
