import { ATOM, type Parsed, SWORD } from './parsed-body.ts';

/**
 * A Statement as the Python client library of SWORD 2.0 reads it: by these names, in these namespaces, with dates in
 * this one form; fields that it does not find are missing.
 */
export type ReadStatement = {
  readonly states: readonly (readonly [iri: string, description: string])[];
  readonly originalDeposits: readonly ReadResource[];
  readonly resources: readonly ReadResource[];
};

type ReadResource = {
  readonly uri: string | undefined;
  readonly packaging: readonly (string | undefined)[];
  readonly depositedOn: string | undefined;
  readonly depositedBy: string | undefined;
};

const ORE = '{http://www.openarchives.org/ore/terms/}';
const RDF = '{http://www.w3.org/1999/02/22-rdf-syntax-ns#}';

/** @throws if the library would not recognise a Statement */
export function readAtomStatement(feed: Parsed): ReadStatement {
  if (feed.name !== `${ATOM}feed`) throw new Error(`${feed.name} is no feed.`);
  const states = all(feed, `${ATOM}category`)
    .filter(({ attributes }) => attributes['scheme'] === 'http://purl.org/net/sword/terms/state')
    .map(({ attributes, text }) => [attributes['term'] ?? '', text.trim()] as const);
  const entries = all(feed, `${ATOM}entry`);
  return {
    states,
    resources: entries.map(readEntry),
    originalDeposits: entries.filter(isOriginalDeposit).map(readEntry),
  };
}

function readEntry(entry: Parsed): ReadResource {
  return {
    uri: all(entry, `${ATOM}content`).at(-1)?.attributes['src'],
    packaging: all(entry, `${SWORD}packaging`).map(({ text }) => text),
    ...deposited(entry),
  };
}

function isOriginalDeposit(entry: Parsed): boolean {
  return all(entry, `${ATOM}category`).some(
    ({ attributes }) => attributes['term'] === 'http://purl.org/net/sword/terms/originalDeposit',
  );
}

/** @throws if the library would not recognise a Statement */
export function readOreStatement(rdf: Parsed): ReadStatement {
  if (rdf.name !== `${RDF}RDF`) throw new Error(`${rdf.name} is no RDF.`);
  const descriptions = all(rdf, `${RDF}Description`);
  assertResourceMap(descriptions);
  const named = (property: string): (string | undefined)[] =>
    descriptions.flatMap((one) => all(one, property)).map(({ attributes }) => attributes['rdf:resource']);
  const [aggregated, original, states] = [
    named(`${ORE}aggregates`),
    named(`${SWORD}originalDeposit`),
    named(`${SWORD}state`),
  ];
  const about = (iris: readonly (string | undefined)[]): Parsed[] =>
    descriptions.filter(({ attributes }) => iris.includes(attributes['rdf:about']));
  const read = (one: Parsed): ReadResource => ({
    uri: one.attributes['rdf:about'],
    packaging: all(one, `${SWORD}packaging`).map(({ attributes }) => attributes['rdf:resource']),
    ...deposited(one),
  });
  return {
    states: about(states).map((one) => [
      one.attributes['rdf:about'] ?? '',
      textOf(one, 'stateDescription') ?? '',
    ]),
    resources: about(aggregated).map(read),
    originalDeposits: about(original).map(read),
  };
}

/** Asserts that the map describes the aggregation, which must refer to it. */
function assertResourceMap(descriptions: readonly Parsed[]): void {
  const map = descriptions.find((one) => all(one, `${ORE}describes`).length > 0);
  const aggregation = descriptions.find((one) => all(one, `${ORE}isDescribedBy`).length > 0);
  const [describes] = map ? all(map, `${ORE}describes`) : [];
  const [describedBy] = aggregation ? all(aggregation, `${ORE}isDescribedBy`) : [];
  const fits =
    describes?.attributes['rdf:resource'] === aggregation?.attributes['rdf:about'] &&
    describedBy?.attributes['rdf:resource'] === map?.attributes['rdf:about'];
  if (!describes || !describedBy || !fits) throw new Error('Map and aggregation do not name each other.');
}

function deposited(of: Parsed): Pick<ReadResource, 'depositedOn' | 'depositedBy'> {
  const on = textOf(of, 'depositedOn');
  const isRead = on !== undefined && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(on);
  return { depositedOn: isRead ? on : undefined, depositedBy: textOf(of, 'depositedBy') };
}

function textOf(parent: Parsed, term: string): string | undefined {
  return all(parent, `${SWORD}${term}`)[0]?.text.trim();
}

function all(parent: Parsed, name: string): Parsed[] {
  return parent.children.filter((child) => child.name === name);
}
