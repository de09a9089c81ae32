import type { NumberedArchive } from '../../domain/deposit/archive-list.ts';
import { FEED_TYPE } from '../headers/accept.ts';
import { packagingOf } from '../headers/packaging.ts';
import type { Iris } from '../iris.ts';
import { ORIGINAL_DEPOSIT, STATE_SCHEME, SWORD } from '../namespaces.ts';
import { element } from '../xml/xml-body.ts';
import { type DepositModel, titleOf, urnOf } from './deposit-model.ts';
import {
  authorFact,
  type Document,
  type Fact,
  generatorFact,
  linksFact,
  type Part,
  type RenderContext,
  text,
} from './document.ts';

/** Content of the Statement: the state of a deposit and its archives (SWORD 2.0, section 11). */
export type Statement = Omit<DepositModel, 'createdAt' | 'archive' | 'loaded'> & {
  /** In upload order. */
  readonly archives: readonly StatedArchive[];
};

export type StatedArchive = Omit<NumberedArchive, 'md5'> & {
  /** RFC 3339, UTC. */
  readonly depositedOn: string;
  /** Revision of the event that added it, which is unique within the deposit. */
  readonly revision: number;
};

/** Returns the IRI of the status, for programs. */
export function stateIri({ status }: Pick<Statement, 'status'>, depositNamespace: string): string {
  return `${depositNamespace.replace(/\/$/, '')}/state/${status}`;
}

/** Returns the time in whole seconds: the most common client library reads no other form. */
export function depositedOn({ depositedOn: time }: StatedArchive): string {
  return time.replace(/\.\d+Z$/, 'Z');
}

/** Describes the Statement as an Atom feed with an entry for each archive (SWORD 2.0, section 11.3). */
export function statementFeed(statement: Statement, context: RenderContext): Document {
  const { collection, depositId, status, statusDetail } = statement;
  const href = stateIri(statement, context.depositNamespace);
  const name = {
    fragment: 'statement',
    title: 'Statement',
    href: context.iris.statement(collection, depositId),
  };
  // In XML the state has two forms: that of the profile, and the one that older client libraries read.
  const state = {
    name: 'state',
    value: { href, label: status, description: statusDetail },
    elements: [
      element('category', statusDetail, { scheme: STATE_SCHEME, term: href, label: status }),
      element('sword:state', [element('sword:stateDescription', statusDetail)], { href }),
    ],
  };
  return archiveFeed(name, statement, context, [state]);
}

/** Describes the archives at the EM-IRI as an Atom feed with an entry for each (SWORD 2.0, section 6.4). */
export function mediaFeed(statement: Statement, context: RenderContext): Document {
  const { collection, depositId } = statement;
  const href = context.iris.mediaFeed(collection, depositId);
  return archiveFeed({ fragment: 'media', title: 'Archives', href }, statement, context);
}

/** Name and address of a feed of the archives of a deposit. */
type FeedName = {
  /** Part of its id after the `#`. */
  readonly fragment: string;
  /** Part of its title before “of” and the title of the deposit. */
  readonly title: string;
  /** IRI of the feed. */
  readonly href: string;
};

/** Describes an Atom feed with an entry for each archive; `more` is placed before the entries. */
function archiveFeed(
  { fragment, title, href }: FeedName,
  statement: Statement,
  { iris, generator }: RenderContext,
  more: readonly Fact[] = [],
): Document {
  return {
    element: 'feed',
    facts: [
      text('id', `${urnOf(statement)}#${fragment}`),
      text('title', `${title} of ${titleOf(statement)}`),
      text('updated', statement.updatedAt),
      authorFact(statement.client),
      generatorFact(generator),
      linksFact([{ rel: 'self', href }], FEED_TYPE),
      ...more,
      { name: 'entries', parts: statement.archives.map((archive) => archiveEntry(archive, statement, iris)) },
    ],
  };
}

function archiveEntry(archive: StatedArchive, statement: Statement, iris: Iris): Part {
  const { filename, mediaType: type, length, sha256 } = archive;
  const src = iris.file(statement.collection, statement.depositId, archive.number);
  const link = { rel: 'edit-media', href: src, type };
  return {
    element: 'entry',
    facts: [
      text('id', `${urnOf(statement)}#archive-${archive.revision}`),
      text('title', filename),
      text('updated', archive.depositedOn),
      text('summary', `Archive ${filename} of ${titleOf(statement)}`),
      {
        name: 'category',
        value: ORIGINAL_DEPOSIT,
        elements: [
          element('category', '', { scheme: SWORD, term: ORIGINAL_DEPOSIT, label: 'Original Deposit' }),
        ],
      },
      { name: 'content', value: { src, type }, elements: [element('content', '', { src, type })] },
      {
        name: 'links',
        value: [{ ...link, length }],
        elements: [element('link', '', { ...link, length: String(length) })],
      },
      text('packaging', packagingOf(archive), 'sword:packaging'),
      text('deposited_on', depositedOn(archive), 'sword:depositedOn'),
      text('deposited_by', statement.client, 'sword:depositedBy'),
      text('sha256', sha256, 'depositns:sha256'),
    ],
  };
}
