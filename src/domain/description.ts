/** Human-readable description of an event or a state. */
export type Description = {
  /** The event in one sentence, in the past tense; digests and identifiers are in the details. */
  readonly sentence: string;
  readonly details: readonly Detail[];
};

export type Detail = {
  readonly label: string;
  readonly value: string;
  /** Whether the detail concerns the service internally: shown to operators, not to clients. */
  readonly internal?: true;
};

/** One aspect of a state: its name and its current values, if any. */
export type Fact = {
  readonly label: string;
  readonly values: readonly string[];
  /** The values for a one-line summary, empty to omit the fact; by default, `values`. */
  readonly brief?: readonly string[];
};

/** One description per event type: a new type does not compile without one. */
export type Sentences<Event extends { type: string; data: object }> = {
  readonly [Type in Event['type']]: (data: Extract<Event, { type: Type }>['data']) => Description;
};

export function describedBy<Event extends { type: string; data: object }>(
  sentences: Sentences<Event>,
): (event: Event) => Description {
  // The function is looked up by the type of this event.
  return ({ type, data }) => sentences[type as Event['type']](data);
}

/** Returns a description of one sentence, with the details that are not `null`. */
export function description(sentence: string, ...details: readonly (Detail | null)[]): Description {
  return { sentence, details: details.filter((detail) => detail !== null) };
}

/** Returns a detail, or `null` if there is no value. */
export function detail(
  label: string,
  value: string | null,
  kind: Pick<Detail, 'internal'> = {},
): Detail | null {
  return value === null ? null : { label, value, ...kind };
}

/** Returns a text of a client in quotes, which it cannot end by itself. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Returns a name that a client has chosen, in quotes unless it is plain: then it cannot pass for more of a sentence. */
export function nameOrQuoted(name: string): string {
  return /^[\p{L}\p{M}\p{N}_+~'’.-]+( [\p{L}\p{M}\p{N}_+~'’.-]+){0,4}$/u.test(name) ? name : quoted(name);
}

/** Formats a count with its noun: `1 file`, `2,000 files`. */
export function pluralize(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}
