/** A hash of 64 bits over a trace: fast rather than secure. */
export class TraceHash {
  #first = 1;
  #second = 2;

  addText(text: string): void {
    let [first, second] = [this.#first, this.#second];
    for (let index = 0; index < text.length; index++) {
      const value = text.charCodeAt(index);
      first = Math.imul(first ^ value, 0x01000193);
      second = Math.imul(second + value, 0x85ebca6b) ^ (second >>> 13);
    }
    [this.#first, this.#second] = [first, second];
  }

  addStep(number: number, time: number): void {
    this.#add(number & 0xffff);
    this.#add(Math.floor(time * 1000) | 0);
  }

  /** Sixteen hex digits. */
  get digest(): string {
    return hex(this.#first) + hex(this.#second);
  }

  #add(value: number): void {
    this.#first = Math.imul(this.#first ^ value, 0x01000193);
    this.#second = Math.imul(this.#second + value, 0x85ebca6b) ^ (this.#second >>> 13);
  }
}

function hex(number: number): string {
  return (number >>> 0).toString(16).padStart(8, '0');
}
