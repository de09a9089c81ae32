const AUIPC = 0x17;
/** The stack pointer, x2. The encoder names it in the AUIPC of a pair that it converted. */
const MARK = 2;

/** Converts absolute addresses of RISC-V code back to relative ones. Instructions begin at even positions. */
export function decodeRiscV(bytes: Buffer, position: number): number {
  let at = 0;
  while (at + 8 <= bytes.length) at += decodeAt(bytes, at, position + at);
  return at;
}

/** Converts the instructions at `at`, which needs eight bytes; returns the number of converted bytes. */
function decodeAt(bytes: Buffer, at: number, position: number): number {
  const opcode = bytes[at]!;
  if (opcode === 0xef) return decodeCall(bytes, at, position);
  if ((opcode & 0x7f) !== AUIPC) return 2;
  const register = (bytes.readUInt16LE(at) >>> 7) & 0x1f;
  return register === 0 || register === MARK
    ? decodePair(bytes, at, position)
    : restoreData(bytes, at, register);
}

/** Converts a JAL to x1 or x5, the registers of return addresses. Bits 20 to 1 of its target are in big endian. */
function decodeCall(bytes: Buffer, at: number, position: number): number {
  const call = bytes.readUInt32LE(at);
  if ((call & 0x0d00) !== 0) return 2;
  const target = ((call & 0xf000) << 5) | (bytes.readUInt16BE(at + 2) << 1);
  const distance = target - position;
  const [bit20, bits10to1] = [(distance & 0x100000) << 11, (distance & 0x7fe) << 20];
  const [bit11, bits19to12] = [(distance & 0x800) << 9, distance & 0xff000];
  bytes.writeUInt32LE(((call & 0xfff) | bit20 | bits10to1 | bit11 | bits19to12) >>> 0, at);
  return 4;
}

/** Converts an AUIPC with the low 20 bits of the next instruction, and a target in big endian, to a pair. */
function decodePair(bytes: Buffer, at: number, position: number): number {
  const marked = bytes.readUInt32LE(at);
  const register = marked >>> 27;
  if ((marked & 0x3fff) !== (0x3000 | (MARK << 7) | AUIPC) || register === 0 || register === MARK) return 4;
  const distance = bytes.readUInt32BE(at + 4) - position;
  // The low 12 bits are signed: the high ones compensate for that.
  const high = (distance + 0x800) & 0xfffff000;
  bytes.writeUInt32LE((high | (register << 7) | AUIPC) >>> 0, at);
  bytes.writeUInt32LE(((distance << 20) | (marked >>> 12)) >>> 0, at + 4);
  return 8;
}

/** Restores data that looked like a converted pair to the encoder, which turned it into a pair. */
function restoreData(bytes: Buffer, at: number, register: number): number {
  const [first, second] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
  // Not 2 or 4: a conversion at those offsets could make a pair of these bytes.
  if ((second & 3) !== 3 || ((second >>> 15) & 0x1f) !== register) return 6;
  bytes.writeUInt32LE(((second << 12) | (MARK << 7) | AUIPC) >>> 0, at);
  bytes.writeUInt32LE(((first & 0xfffff000) | (second >>> 20)) >>> 0, at + 4);
  return 8;
}
