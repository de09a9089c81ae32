import { READING_LIMITS, type UnpackedLimits } from '../archives/unpacked-limits.ts';
import { Fault, UsageFault } from '../faults.ts';
import type { Answer } from '../http/answer.ts';
import { type Connection, isSuccess } from '../http/connection.ts';
import { isTransient } from '../http/losses.ts';
import { Refused } from '../http/refused.ts';
import { ignoreErrors } from '../state-files.ts';
import { absoluteIri } from './absolute-iri.ts';
import { childrenOf, readXml, textOf, UnreadableAnswer, type XmlElement } from './xml-tree.ts';

export type ServiceDocument = {
  /** Maximum bytes of one archive; `null` if the server does not state it. */
  readonly maxUploadSize: number | null;
  /** Maximum bytes of one archive that is sent in chunks; `null` if the server does not state it. */
  readonly maxResumableUploadSize: number | null;
  /** Limits of one archive, unpacked. Those that the server does not state only keep reading bounded. */
  readonly unpackedLimits: UnpackedLimits;
  /** Domain that a url in the metadata must be under; `null` if the server states no domain. */
  readonly clientDomain: string | null;
  readonly collections: readonly Collection[];
};

export type Collection = {
  /** COL-IRI */
  readonly iri: string;
  /** Display name: its `sword:name`, or the end of its IRI. */
  readonly name: string;
  readonly title: string | null;
  /** Accepted media types of archives. */
  readonly accept: readonly string[];
  /** Whether the server recognizes a repeated request by its Idempotency-Key and repeats the first answer. */
  readonly recognisesRepeats: boolean;
  /** Whether the server checks a deposit without creating it. */
  readonly dryRun: boolean;
  /** IRI of resumable uploads, by the tus protocol. */
  readonly resumableUploads: string | null;
};

/**
 * Fetches the service document. The address of the server may be its SD-IRI, whatever that looks like, or the beginning
 * of the IRIs of a service of this kind.
 */
export async function fetchServiceDocument(connection: Connection): Promise<ServiceDocument> {
  const { server } = connection;
  const ofThisKind = `${server.origin}${server.pathname.replace(/\/+$/, '')}/1/servicedocument/`;
  if (server.pathname !== '/' || server.search !== '') {
    const answer = await connection.ask('GET', server.href, {
      headers: { Accept: 'application/atomsvc+xml, application/xml;q=0.9' },
      repeatable: true,
    });
    if (isSuccess(answer) && isServiceDocument(answer)) return readServiceDocument(answer);
    // Other answers are those to an IRI that is not the SD-IRI, except that it may be asked without the right login.
    if ([401, 403].includes(answer.status) || isTransient(answer)) throw new Refused(answer);
    if (/\/servicedocument\/?$/.test(server.pathname)) {
      if (!isSuccess(answer)) throw new Refused(answer);
      return readServiceDocument(answer);
    }
  }
  return readServiceDocument(await connection.get(ofThisKind));
}

function isServiceDocument({ body }: Pick<Answer, 'body'>): boolean {
  return ignoreErrors(() => readXml(body, '').local) === 'service';
}

/** @throws {UnreadableAnswer} */
export function readServiceDocument({ body, iri }: Pick<Answer, 'body' | 'iri'>): ServiceDocument {
  const root = readXml(body, `The response from ${iri}`);
  if (root.local !== 'service') throw new UnreadableAnswer(`${iri} is not a SWORD service document.`);
  return {
    maxUploadSize: sizeIn(root, 'maxUploadSize'),
    maxResumableUploadSize: sizeIn(root, 'maxResumableUploadSize'),
    unpackedLimits: {
      unpackedBytes: sizeIn(root, 'maxUnpackedSize') ?? READING_LIMITS.unpackedBytes,
      members: sizeIn(root, 'maxMembers') ?? READING_LIMITS.members,
      ratio: sizeIn(root, 'maxRatio') ?? READING_LIMITS.ratio,
    },
    clientDomain: textOf(root, 'clientDomain'),
    collections: childrenOf(root, 'workspace').flatMap((workspace) =>
      childrenOf(workspace, 'collection').flatMap((element) => collectionIn(element, iri)),
    ),
  };
}

/** Returns the collection with this name, title or IRI, or the only one. @throws {UsageFault} */
export function chooseCollection({ collections }: ServiceDocument, wanted: string | undefined): Collection {
  const [first, ...more] = collections;
  if (!first) throw new Fault('This user has no collection on the server.');
  const names = collections.map(({ name }) => name).join(', ');
  if (wanted !== undefined) {
    const found = collections.find(({ name, title, iri }) => [name, iri, title].includes(wanted));
    if (found) return found;
    throw new UsageFault(`Collection ${wanted} not found. Your collections: ${names}.`);
  }
  if (more.length > 0)
    throw new UsageFault(`You have several collections, choose one with --collection: ${names}.`);
  return first;
}

function collectionIn(element: XmlElement, document: string): Collection[] {
  const href = element.attributes.get('href');
  if (!href) return [];
  const iri = absoluteIri(href, document);
  const uploads = textOf(element, 'resumableUploads');
  const [last = iri] = iri.split('/').filter(Boolean).slice(-1);
  return [
    {
      iri,
      name: textOf(element, 'name') ?? ignoreErrors(() => decodeURIComponent(last)) ?? last,
      title: textOf(element, 'title'),
      accept: childrenOf(element, 'accept')
        .map(({ text }) => text.trim().toLowerCase())
        .filter((type) => type !== '' && !type.startsWith('application/atom+xml')),
      dryRun: textOf(element, 'dryRun') === 'true',
      recognisesRepeats: textOf(element, 'idempotencyKey') === 'true',
      resumableUploads: uploads && absoluteIri(uploads, document),
    },
  ];
}

function sizeIn(element: XmlElement, name: string): number | null {
  const size = textOf(element, name) ?? '';
  return /^[0-9]{1,15}$/.test(size) ? Number(size) : null;
}
