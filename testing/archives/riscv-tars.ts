import { seeded } from '../processes/seeded-random.ts';
import { decodedTable, tarOf } from './archive-builders.ts';

const random = seeded(11);
const tarHeaderLength = 512;

function anyOf(...values: number[]): number {
  return values[Math.floor(random() * values.length)]!;
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value >>> 0, 4 * index);
  return bytes;
}

/** Returns four bytes with which instructions may begin, too. */
function immediate(): number {
  const byte = () => anyOf(0x00, 0x17, 0x31, 0x80, 0x97, 0xef, 0xff);
  return Buffer.of(byte(), byte(), byte(), byte()).readUInt32LE();
}

/**
 * Returns JAL and AUIPC with another instruction. Some match the filter, some differ in a register or an opcode, some
 * are cut.
 */
function mixedInstructions(): Buffer[] {
  return Array.from({ length: 400 }, () => {
    const register = anyOf(0, 1, 2, 3, 5, 9, 17);
    const first = immediate() & 0xfffff000;
    const second = (immediate() & 0xfff00000) | (register << 15) | anyOf(0x67, 0x83, 0x01);
    const converted = (register << 27) | anyOf(0x2000, 0x3000, 0x3000) | 0x117;
    const instructions = [
      words(first | (register << 7) | 0x6f),
      words(first | (register << 7) | 0x17, second),
      words(converted, immediate()),
    ];
    return instructions[anyOf(0, 1, 2)]!.subarray(0, anyOf(2, 4, 6, 8, 8, 8));
  });
}

/** Returns over 64 KiB of AUIPC and JALR that call address 0, each followed by an instruction of 16 bits. */
function farCalls(start: number): Buffer[] {
  return Array.from({ length: 7000 }, (_, index) => {
    const distance = -(start + 10 * index);
    const call = words(((distance + 0x800) & 0xfffff000) | 0x97, (distance << 20) | 0x80e7);
    return Buffer.concat([call, Buffer.of(1, 0)]);
  });
}

const mixed = Buffer.concat(mixedInstructions());
const calls = farCalls(tarHeaderLength + mixed.length);

/** A tar whose one file holds instructions of RISC-V. */
export const riscVTar = tarOf([{ name: 'code', data: Buffer.concat([mixed, ...calls]) }]);

/** That tar as liblzma 5.8 packed it. The first of the two streams ends with a pair. */
export const riscVTarsXz = decodedTable({
  riscv:
    '/Td6WFoAAATm1rRGAgELACEBFgDYNGPu4R//BohdADGbyLBRzmpR70s3KVFNtJLP2OHk/Nqn7dn7G1X86AFY3zdz7n3LD4QWOPoXlR8V5PKbRv7ev4c2AqhsBZWTyxjWyC2Hb2hCp/VgPyYOkT9Xc3ann7F2eBSGVUKSiqGLVNFbhl40ohfLariAaEV801j0yFLJ5XejAGrR/w3fViX8LHOlXo1fzV9Cd8nvh3md5fDvDwTMvwWWa5pCGLJhIvCWmOEU+grkLfA2q0C/9/BQqL2ZnwD0hIYvVws+RYJtAi6s23A9dwXD7VKAA0p7Hot2Et+uP19vp577ys2PH3BirGw6KVU7ANom9pzfA74ikXo3lT5OiyQieBrLCWsuGKMHY79vUlCP0YMWZDNC+0LTjDQ4adPwr2OezNQpNy1govXteCLCelBJKgLZHv+Z22eYHBHKhq54TgOB/GmTh7eQks9uXXDJlvh8xbmVwscoLJ0J4YLf2t/qlruESZSCziPhY9geotK6vOtHMHjKw3Ep1sLwuR4hV+H4/6hRZI4dGN7SFESHLwpBeno8++jFFgMNwRQpmRfbI8aqpIvzcobIAgpD+1hT07Igj9wQulyl4q9x5yfH8+jflasHQvEoR1OfvgGQOEKxraUGiVf0K5Ah5GV3zgf+ABiSU7ZMm7KWC+OgMdbsdb6RLSciqBsXg3avSMctWgQfS4wv7ra2ORoBv37FFL0FMF4zFvKySyGnSGwrhQVXZrES2aTH3UTqoR+ZNx3rDrbvo/Ik5XeHndACiQBJpJdkEZlUsRb6+uf2Lm1qWWMDfGyO998izmsQ+5zg5fupZY0KU8FweemdMSe0i13NE9JHN/nQFEV0qGCp0KqfVJpYfsGwr00BpC5cIs+95u5YIkcm3LCvm7m502k4p0LKKnOfBj9fTV48zt5oRGj0+NFyJgK3fI0eb1eWfihcwxfn4vIKuGyiU+jxM7EhS7+Id+iJourfbi2VctE/3uXKUiQ8cPBLgN0FedMg07r5laB+eeDgqncCcKlAGUA0loqfK5yLfkhLfIcd+sVzvarUl56eNNYQx1ztSN0YtUYn0K6w82z5B60QkH9LAwRurT0x45RxNzW2OvkxrnfHOKucn7ArIjaqOA2Ft1/4icfssCG07lpC/rt8VlB/yVSSdgFkMj9aRSwUGxEGpjOc9XHzoZ4AgYE+nGCqPFRVj/uQVQ5JhN9syzOls4G0BqYTrARO9fWZVLR9Hl2JFx/zAjJHEO0xTiZuJoe8Da2nTQXKQQolehYSgZrt3HB2sS5snFZ8sPy4ZD1Sg7czjRxSguYDRFbjsPbzAarTjgr5mz/HEACEfNOWO+9ACjPgAnhOB1i2Sh/nua1EC+DKXzCZ8Lr8XAZHkoa9HwIST9oLqEcnwunD5ZLmDOlVCl6NQ86zd8ykqZdNO8ysKRDQ5Lpm1FPrdUKaEnNv381q/CnrJjBMiIcjgwjP3lgILTQjBuDpBwQy5ncpGzm+o3gg5lR+zfZotmmwMJDw4QlBre69a6QIuK+8IppZjmv3Y3HfM7ZpqHS4S7mbjMMfFav2e0U3Uq8KMj6A9xpvDPoW34Q2UA/rLvdjkiU3xprtU3WtV35qeBEDv0fgCVamEVmBjovyiDogOADFvepaKB3pgcrlPaKhXkFDgBQkIsRK6NiK5CjcbzBqPgy8vDN5DgRMX9uN4OFdaZVWhKFUDUbYBYErwL1iUNo4uPW23MKE5Eri1twLjbYwcSQbcPctqKoGpnShCWv/J7xd1sie1c5NPJeEw9JtwmYNIhjOExoevESDSjMrOuoTy2w1D1Y/SEtjHVVl72fPcGC4weDYRt27N2CVi23DXAQP2lkn7d6ps3QviT66Dor8K4hlcXyKbkVfBxNF6jOiFdZYu/HSkeWd4OyQUKP/rrE5S+d5Ch68apSC9JvtM//YCjbDm/DmvX8qsZ87g+AhOs/6n9TjGycqpDcDA/g16myrmrWX05KvIAztqqAHaEFzjcnUO1KR89y+5TLVsf0NAgZAKV/Y+q9nfluXEKkq5rz4Bo4qBL+h05HKS4ixE0YIfSqQARRVXtbbSUz++cwdgGhDuQ2jy7OrKwdpgDqwAZca03rVVdqSvkhSPzboxHb0kDfMaCrL0yx5uh0Z5yXO3C4Lkd8DrKctcA5h22zIQxRwnpSoqZzVHsa4yYCX9Drvb4977BaEfGpnzeCGW5uywohluMoV8mg96dTb2ehAFft9NYJZyJ3HNVJJJsRkmvBGze11tgAAIT9IZm/hckgAAaQNgMAEAOum0qGxxGf7AgAAAAAEWVo=',
  'riscv from 4098 and SHA-256 in two streams':
    '/Td6WFoAAArh+wyhAwELBAIQAAAhARYArO3mSOAKJwYxXQAxm8iwUc5qUe9LNylRTbSSz9jh5Pzap+3Z+xtV/OgBWN83c+59yw+EFjj6F5UfFeTym0b+3r+HNgKobAWVk8sY1sgth29oQqf1YD8mDpFDAD8z8wTSGo7ajtWmhS8foVTRW4ZeNKIXy2q4gGhFfNNY9MhSyeV3owBq0f8N31Yl/CxzpV6NqZwGHX9lEzpG7seUFYo0FilH0oeVA20qXoxY/nXnW+q/TGQofKoQiY56GgwxY+2aUqvxbvRm+y9gK1h62bT3lMPNiwPh86L6dLk3Lgln5zeNq+byOPEv3EY93mNz5r3WYAYaDzL4xe+21Vjh0rqhR5LNheeSbUCF5NTEsP9+7fpr8be/n9P2+7fjSYiC68dG+my2P7TMT7vPlyB5eQVdp1JpsbPBiXtiyU5VdZlSPvbrRRLyKCXlZRGSvX98OBsU7Bxv8DbVfTKstQvtE9CXYe5iUYnRSa6qpY4/vjeQMC6Dk74UsR/axdGTI7d/h4kqfmr+0zW5ToHyC/8tGXUCTgltgTD1VMvwrtqvBZ8Ly5umFXWoVNtqH2J0lNik4stfcELN0YcVNXfkFAMbyZX1Hs5LsoJ/BuT4SGkth0Tu+Ga5PBbLf9V9ESJrbfgNIol0macDb4tJzbf1kaoKCWwxlXtkvMqN57G1QNbVlUEfoENCVE5n+9UPWw42wRrQCH0BBmSBiBwa9pcfrkno8IQiiHHVsSg/zKhtceiBNOZDOAUbsEFhDCyGjIERWDBr3ec1uVmxP+ArgV34V8B70Hx4hWw0VbJA0FfpTZg9t6V3mOxmVtIhN/woOjwQR6HF+G80RgmHndUZMxDVVanxOYQFClmlxMsbFnkFX7BqFJ1CRmjnWH/A0dgiVuabQoctRunmP9BeSWwo57RqmKxcexARG5RuUzW2CZN+MIdPkMufXwCcH+3AB51pbd5di1l9ONMxAQNHw/puUrzBpb6H5eU1dBIElgaBEExWhL9BFwfs6LCDjsZ5qoqzN60QkT79xRMvVxHFJ4sIlRqBvbT3JYbFOUZccAjG+LWMOqmWOBQNO2JBT3g2NXZBcXzAgi5KkaKX+qm6VrcPevA/ZumdWqTAY+r+3y6iABZFfBg1dX00Hk7++4Y2QkTnoEnyfODN15PDsUkualDXn7hzjWH4EVKFzM17QAQHy2sz5ausRhUx4HKK/86CqvLnBQLOs21rd5ffg9h8xsZbMk6mow6xGQ3eqVcWz39tRi4YzI/6dn5jKGNPTN1awPhP5m02M0B8v6qwCc62WBohEs4xup9HbjlJXnRusnnODFrJQdfQdLjwt4z++bQznsKn+Wf9ezwDz8289OMrS/Xz2NB+V0Ppu9OkjnL+ou+/TnzL6QtYt2gy44Xl8xcYP/QdlUFtmdPSK5DO5FTAHCxOg6L2J6/8QCFGnf1rIyqLCM7fefK0MldoJdfornn505jGtgVfUN/jsDXJrOLzwv3bBRnZKiX48WL3nr79T9XSXbA/oHAe8zpjYdcVp3i571u332yJAFEtuBSVDqfFGzYk4jyKj5PJqu2j5zwPw7S2dKFQlcto0CnJzkPMMRGJ2TZ7asmX/0/S3yHzCA/o/eXBxG8zvgfXFM0yr0qmLYxa6wRu8PuIP853RSdKBNkl8fO8EjVm+W28p6KG37fSNfqOryFN8UCuu01I0UdrpTz1oIBe+I6qGoukrgwzkhcwNcZgoAEraJ+mCi1eZL2SmSVQ265aKdXr4nt0svC0hL8qV9/I0eWHktUSPkmPTODm9l0YYIc1JZ87pLZNDHTYAVuZtP+vQy3QHVMOfrVdTRB5mxbkD4W6EzPekUnWH7CqQB+f8HyhgHEz2NI99uP63ttOF8OrU6CYzuwE27omybVfxzDzNHVstYU+h37VNovRmKOk+wzsr7ZTKyC1kFD2fRTUS/KtGeLI8bVwfGYfi3mLCBcsEWiRsZvUsKKM6aexcIsUs4YLnbZyVSr1+Vf46rVWKEiq8M+sGd+2MEmHCd/PoV//b79Ep1DYYZkQQbLul7HiWy2iZAFVLiO459LWc/2PIclu1M6f8eAaESTEx0PnBblbAyqtGHmKlIN4M/cqoN8L5HkhR9UBCtZ8dk5nWe0SNqQ0yZ4AAAAAAER61PEIHGqFNxwEDsneXz6LqpuoDK9EiXy3VyHv1HUJAAHpDKgUAADQSR6ktunfHAIAAAAAClla/Td6WFoAAArh+wyhAwELBAIQAAAhARYArO3mSOEV1wBbXQAAgAJFsHn1OtDNmKOf6mNfDJTzp4wYYk5vttt7PXq80GzqhWgVaadgycPzPissiYtf6lnX2dUn2NdG5EeXzv780Velt2VzfUP4GVegCJ4TOQAXrTMTturrMfAAAAA30ZDTFIF/JPZixVTiuFBxrW1AOTa+TVeIrJi7P8F+ugABkwHYqwQAc39mN7bp3xwCAAAAAApZWg==',
});
