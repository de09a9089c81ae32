import { ATOM, CODEMETA } from '../namespaces.ts';

/** A vocabulary of entries: its name and all its elements. */
export type Vocabulary = {
  readonly name: string;
  /** Prefix of its fields in reasons. */
  readonly prefix: string;
  readonly terms: ReadonlySet<string>;
};

const [CODEMETA_2 = '', CODEMETA_3 = ''] = CODEMETA;

const SHARED = `type id schema codemeta Organization Person SoftwareSourceCode SoftwareApplication Text URL address
  affiliation applicationCategory applicationSubCategory author buildInstructions citation codeRepository
  contributor copyrightHolder copyrightYear creator dateCreated dateModified datePublished description
  developmentStatus downloadUrl editor email embargoDate encoding familyName fileFormat fileSize funder funding
  givenName hasPart identifier installUrl isAccessibleForFree isPartOf issueTracker keywords license maintainer
  memoryRequirements name operatingSystem permissions position processorRequirements producer
  programmingLanguage provider publisher readme referencePublication relatedLink releaseNotes runtimePlatform
  sameAs softwareHelp softwareRequirements softwareSuggestions softwareVersion sponsor storageRequirements
  supportingData targetProduct url version contIntegration`;

const SINCE_3 = `continuousIntegration embargoEndDate endDate hasSourceCode isSourceCodeOf Review review reviewAspect
  reviewBody Role roleName startDate`;

/** Elements of RFC 4287, plus `external_identifier` and `slug`, which clients send and this service reads. */
const ATOM_ELEMENTS = `entry name uri email author category content contributor generator icon id link logo published
  rights source subtitle summary title updated external_identifier slug`;

/** Vocabularies by namespace. */
export const VOCABULARIES: ReadonlyMap<string, Vocabulary> = new Map([
  [ATOM, { name: 'Atom', prefix: 'atom', terms: words(ATOM_ELEMENTS) }],
  [CODEMETA_2, { name: 'CodeMeta 2.0', prefix: 'codemeta', terms: words(SHARED) }],
  [CODEMETA_3, { name: 'CodeMeta 3.0', prefix: 'codemeta', terms: words(`${SHARED} ${SINCE_3}`) }],
]);

/** Terms whose value, if a text, must be an absolute URL. */
export const URL_TERMS =
  words(`url codeRepository downloadUrl installUrl issueTracker readme license relatedLink
  sameAs softwareHelp referencePublication contIntegration continuousIntegration`);

export const DATE_TERMS = ['dateCreated', 'datePublished', 'dateModified', 'embargoDate', 'embargoEndDate'];
export const PERSON_TERMS = ['author', 'contributor', 'maintainer'];

/** Returns the term that was probably meant, by the edit distance; `null` if all differ too much. */
export function nearestTerm(written: string, { terms }: Vocabulary): string | null {
  if (written.length > MAX_TERM) return null;
  const lower = written.toLowerCase();
  let [nearest, least]: [string | null, number] = [null, Math.max(1, Math.floor(written.length / 3)) + 1];
  for (const term of terms) {
    if (Math.abs(term.length - lower.length) >= least) continue;
    const distance = editDistance(lower, term.toLowerCase());
    if (distance < least) [nearest, least] = [term, distance];
  }
  return nearest;
}

/** Maximum characters of a name to look up; all terms are shorter. */
const MAX_TERM = 40;

/** Returns the number of letters to insert, delete or replace to turn one into the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
