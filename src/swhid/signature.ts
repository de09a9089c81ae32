/** A time as git writes it: seconds since 1970 and the offset of the time zone, such as `+0200`. */
export type GitTime = { readonly seconds: number; readonly microseconds?: number; readonly offset: string };

export type Signature = {
  /** `Name <address>`, used unchanged. */
  readonly fullname: string;
  readonly time: GitTime;
};

export function formatSignature({ fullname, time }: Signature): string {
  return `${fullname} ${time.seconds}${fraction(time.microseconds ?? 0)} ${time.offset}`;
}

/** Formats a header line. A space continues a line break inside the value, so no value can add a header. */
export function headerLine(key: string, value: string): string {
  return `${key} ${value.replaceAll('\n', '\n ')}\n`;
}

function fraction(microseconds: number): string {
  return microseconds === 0 ? '' : `.${String(microseconds).padStart(6, '0').replace(/0+$/, '')}`;
}
