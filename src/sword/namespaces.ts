export const ATOM = 'http://www.w3.org/2005/Atom';
export const APP = 'http://www.w3.org/2007/app';
export const SWORD = 'http://purl.org/net/sword/terms/';
export const RDF = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
export const ORE = 'http://www.openarchives.org/ore/terms/';
export const XSD = 'http://www.w3.org/2001/XMLSchema#';
export const DCTERMS = 'http://purl.org/dc/terms/';

/** Namespaces of CodeMeta in the spelling of entries: version 2.0, then 3.0. */
export const CODEMETA: readonly string[] = [
  'https://doi.org/10.5063/SCHEMA/CODEMETA-2.0',
  'https://w3id.org/codemeta/3.0',
];

/** Namespaces of schema.org in the spelling of entries. */
export const SCHEMA_ORG: readonly string[] = ['http://schema.org/', 'https://schema.org/'];

/** Default deposit namespace, which existing clients read. */
export const DEFAULT_DEPOSIT_NAMESPACE = 'https://www.softwareheritage.org/schema/2018/deposit';

/** `rel` of the link to the SE-IRI. */
export const ADD_RELATION = 'http://purl.org/net/sword/terms/add';

/** `rel` of the links to the Statement, one for each of its formats. */
export const STATEMENT_RELATION = 'http://purl.org/net/sword/terms/statement';

/** `rel` of the link to the history (RFC 5829): each event makes a new version. */
export const HISTORY_RELATION = 'version-history';

/** Term that marks an entry of the Statement as an original deposit. */
export const ORIGINAL_DEPOSIT = 'http://purl.org/net/sword/terms/originalDeposit';

/** Scheme of the categories with the state of a deposit. */
export const STATE_SCHEME = 'http://purl.org/net/sword/terms/state';

export const SIMPLE_ZIP = 'http://purl.org/net/sword/package/SimpleZip';
export const BINARY = 'http://purl.org/net/sword/package/Binary';

/** Prefix of the error IRIs that SWORD 2.0 defines. */
export const SWORD_ERROR = 'http://purl.org/net/sword/error/';
