/** A moment as git writes it: seconds since 1970 and the offset of the clock it was read from, such as `+0200`. */
export type GitTime = { readonly seconds: number; readonly microseconds?: number; readonly offset: string };

export type Signature = {
  /** `Name <address>`; taken as it is. */
  readonly fullname: string;
  readonly time: GitTime;
};

export function formatSignature({ fullname, time }: Signature): string {
  return `${fullname} ${time.seconds}${fraction(time.microseconds ?? 0)} ${time.offset}`;
}

/** A header line; a line break inside the value is continued with a space, so no value can add a header. */
export function headerLine(key: string, value: string): string {
  return `${key} ${value.replaceAll('\n', '\n ')}\n`;
}

function fraction(microseconds: number): string {
  return microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0').replace(/0+$/, '')}`;
}
