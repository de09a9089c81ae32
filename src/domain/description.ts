/** What an event or a state tells a person. */
export type Description = {
  /** What happened, in the past tense; digests and identifiers are among the details. */
  readonly sentence: string;
  readonly details: readonly Detail[];
};

export type Detail = {
  readonly label: string;
  readonly value: string;
  /** The value is a digest, which few people need whole. */
  readonly digest?: true;
  /** How this service works inside: for its operators, not for its clients. */
  readonly internal?: true;
};

/** A part of a state: its name, and what is there at present, perhaps nothing. */
export type Fact = {
  readonly label: string;
  readonly values: readonly string[];
  /** The values among others in one line, none for what is not worth a place there; the values when left out. */
  readonly brief?: readonly string[];
};

/** One description for every type of event: a new type does not compile without. */
export type Sentences<Event extends { type: string; data: object }> = {
  readonly [Type in Event['type']]: (data: Extract<Event, { type: Type }>['data']) => Description;
};

export function describedBy<Event extends { type: string; data: object }>(
  sentences: Sentences<Event>,
): (event: Event) => Description {
  // The sentence is found under the type of this very event.
  return ({ type, data }) => sentences[type as Event['type']](data);
}

/** A sentence that leaves nothing to tell. */
export function saying(sentence: string, ...details: readonly (Detail | null)[]): Description {
  return { sentence, details: details.filter((detail) => detail !== null) };
}

/** A detail, unless there is nothing to tell. */
export function detail(
  label: string,
  value: string | null,
  kind: Pick<Detail, 'digest' | 'internal'> = {},
): Detail | null {
  return value === null ? null : { label, value, ...kind };
}

/** As in `1 file`, `2,000 files`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}

/** The beginning of a digest: enough to tell two apart at a glance. */
export function shortDigest(digest: string): string {
  return digest.length <= 12 ? digest : `${digest.slice(0, 12)}…`;
}
