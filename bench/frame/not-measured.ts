/** The goal cannot be measured on this machine; the message says what is missing. */
export class NotMeasured extends Error {
  override readonly name = 'NotMeasured';
}
