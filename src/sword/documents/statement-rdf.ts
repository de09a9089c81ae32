import { packagingOf } from '../headers/packaging.ts';
import { ATOM, ORE, RDF, XSD } from '../namespaces.ts';
import { type BodyElement, element } from '../xml/xml-body.ts';
import { xmlBody } from '../xml/xml-builder.ts';
import { titleOf } from './deposit-model.ts';
import type { RenderContext } from './document.ts';
import { depositedOn, type StatedArchive, type Statement, stateIri } from './statement.ts';

/** Renders the Statement as an OAI-ORE resource map in RDF/XML (SWORD 2.0, section 11.2). */
export function statementRdf(
  statement: Statement,
  { iris, depositNamespace, generator }: RenderContext,
): string {
  const map = iris.statementRdf(statement.collection, statement.depositId);
  const aggregation = `${map}#aggregation`;
  const state = stateIri(statement, depositNamespace);
  const archives = statement.archives.map((archive) => ({
    archive,
    iri: iris.file(statement.collection, statement.depositId, archive.number),
  }));
  const descriptions = [
    description(map, [
      resource('rdf:type', `${ORE}ResourceMap`),
      resource('ore:describes', aggregation),
      resource('dcterms:creator', generator.uri),
      literal('dcterms:modified', statement.updatedAt, 'dateTime'),
    ]),
    description(aggregation, [
      resource('rdf:type', `${ORE}Aggregation`),
      resource('ore:isDescribedBy', map),
      element('dcterms:title', titleOf(statement)),
      ...archives.flatMap(({ iri }) => [
        resource('ore:aggregates', iri),
        resource('sword:originalDeposit', iri),
      ]),
      resource('sword:state', state),
    ]),
    ...archives.map(({ archive, iri }) => description(iri, archiveElements(archive, statement))),
    description(state, [element('sword:stateDescription', statement.statusDetail)]),
  ];
  const root = element('rdf:RDF', descriptions, { 'xmlns:rdf': RDF, 'xmlns:ore': ORE });
  return xmlBody(root, { defaultNamespace: ATOM, depositNamespace });
}

function archiveElements(archive: StatedArchive, { client }: Statement): BodyElement[] {
  return [
    element('dcterms:title', archive.filename),
    element('dcterms:format', archive.mediaType),
    resource('sword:packaging', packagingOf(archive)),
    literal('sword:depositedOn', depositedOn(archive), 'dateTime'),
    literal('sword:depositedBy', client, 'string'),
  ];
}

function description(about: string, properties: readonly BodyElement[]): BodyElement {
  return element('rdf:Description', properties, { 'rdf:about': about });
}

function resource(property: string, iri: string): BodyElement {
  return element(property, '', { 'rdf:resource': iri });
}

function literal(property: string, value: string, type: 'dateTime' | 'string'): BodyElement {
  return element(property, value, { 'rdf:datatype': `${XSD}${type}` });
}
