import { STATUSES } from '../../domain/deposit/status-detail.ts';
import { PACKAGINGS } from '../../sword/headers/packaging.ts';
import { ORIGINAL_DEPOSIT } from '../../sword/namespaces.ts';
import {
  count,
  depositId,
  described,
  listOf,
  object,
  orNull,
  qualifiedSwhid,
  ref,
  sha256,
  swhid,
  text,
  time,
  uri,
  urn,
} from './schema-parts.ts';

const status = { enum: STATUSES };
const uuid = { type: 'string', format: 'uuid' };

const feed = {
  id: urn,
  title: text,
  updated: time,
  author: ref('Person'),
  generator: ref('Generator'),
  links: listOf(ref('Link')),
};

const held = listOf(object({ event_id: uuid, revision: count, since: time }));

/** Lists: of deposits, archives, events and notifications. */
export const FEED_SCHEMAS = {
  DepositList: object({
    ...feed,
    id: uri,
    count: described(count, 'Deposits on all pages.'),
    entries: listOf(ref('ListedDeposit')),
  }),
  ListedDeposit: object(
    {
      id: urn,
      title: text,
      updated: time,
      published: time,
      author: ref('Person'),
      links: listOf(ref('Link')),
      deposit_id: depositId,
      deposit_status: status,
      reception_date: time,
      status,
      status_detail: text,
    },
    {
      complete_date: time,
      external_id: text,
      swhid,
      swhid_context: qualifiedSwhid,
      origin_url: text,
    },
  ),
  ArchiveFeed: object({ ...feed, entries: listOf(ref('StatedArchive')) }),
  Statement: object({
    ...feed,
    state: object({ href: uri, label: status, description: text }),
    entries: listOf(ref('StatedArchive')),
  }),
  StatedArchive: object({
    id: urn,
    title: described(text, 'File name.'),
    updated: time,
    summary: text,
    category: { const: ORIGINAL_DEPOSIT },
    content: object({ src: described(uri, 'File-IRI'), type: text }),
    links: listOf(ref('Link')),
    packaging: { enum: PACKAGINGS },
    deposited_on: time,
    deposited_by: text,
    sha256,
  }),
  History: object({
    ...feed,
    entries: described(
      listOf(
        object({
          id: urn,
          title: described(text, 'What has happened, in a sentence.'),
          updated: time,
          author: ref('Person'),
          category: described(text, 'Type of the event.'),
          details: listOf(object({ label: text, value: text })),
        }),
      ),
      'Events, oldest first.',
    ),
  }),
  Undelivered: object({
    webhook: orNull(object({ url: uri, set: time })),
    deposits: listOf(
      object({
        deposit_id: depositId,
        reason: orNull(text),
        next_try: orNull(time),
        waiting: held,
        given_up: held,
      }),
    ),
    more: described({ type: 'boolean' }, 'Whether there are more deposits than are listed.'),
  }),
};
