import { seeded } from '../processes/seeded-random.ts';
import { decodedTable, tarOf } from './archive-builders.ts';

const random = seeded(20);

/** Returns branches as the filters of xz expect them, in both byte orders, aligned and not. */
function machineCode(): Buffer {
  const words = [0x48000001, 0x400003f1, 0x7fc00101, 0x940000f1, 0x900001e1, 0xeb000123, 0x90e00011];
  const parts = words.flatMap((word) => {
    const [big, little, shifted] = [Buffer.alloc(4), Buffer.alloc(4), Buffer.alloc(6, 0xe8)];
    big.writeUInt32BE(word + Math.floor(random() * 4096) * 4);
    little.writeUInt32LE(word + Math.floor(random() * 4096));
    shifted.writeInt32LE(Math.floor(random() * 8192) - 4096, 1);
    return [big, little, Buffer.of(0x10, 0xf0, 0x20, 0xf8), shifted, shifted, Buffer.alloc(4, 0xe8)];
  });
  return Buffer.concat([...parts, itaniumBundle(), itaniumBundle(), Buffer.alloc(3, 0xe9)]);
}

function itaniumBundle(): Buffer {
  const branch = (5n << 37n) | (BigInt(Math.floor(random() * 2 ** 20)) << 13n);
  const bundle = 22n | (branch << 5n) | (branch << 46n) | (branch << 87n);
  return Buffer.from(Buffer.from(bundle.toString(16).padStart(32, '0'), 'hex').toReversed());
}

const code = machineCode();

/** A tar whose one file begins at a multiple of 16, as bundles do. */
export const codeTar = tarOf([{ name: 'code', data: Buffer.concat([code.subarray(-35, -3), code]) }]);

/** That tar as xz 5.4 packed it, by the filter or check. */
export const codeTarsXz = decodedTable({
  'SHA-256':
    '/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4Af/AMtdADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfA7frK5whFRQyWf7RzQGJyFr6ar/jARTSz1y9DrCcWR8Oqp4Kejqof8wcSbMpMvjP++9oj6mWvXTjnjC0ze83bpcjepJVWS6kPOWt4FdmnUVrY/qK5rARn9jvieNwjBINFTS5R3aiDmWDh+Nzt/flHX52IJSdVoXiYe99DXfOjfqNYtyOUkV8AcSMFOB0PTyrleOVUKzEdeNe03fhlZAnrSxBJQAAABnxun7Pq1DgTaxchXCpvsDVcyQmx2bVUa2jdym4ONOdQAB/wGAEAAA6kOO67bp3xwCAAAAAApZWg==',
  x86: '/Td6WFoAAArh+wyhAgEEACEBFgANhjUf4Af/AN5dADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WqyyCQ5GKN0E0pEUpccHJS2I1OVTuqk4IXK6bA+bXr6GLt+guSxTQ7PXzm0CSMubJMkMKP72EQUjwKCv2RpWfsfaDt0GHSoncxn7VkfgvHbrNlwJsEDRKB76KkVz1VWzYJYp/fLE4oLbUdihYwwZuZOg6bPDiTfL+rt3obGKhXTkJfQNgp5sFioM48bk9QOayAAAAAGfG6fs+rUOBNrFyFcKm+wNVzJCbHZtVRraN3Kbg4051AAGSAoAQAAC+JUQYtunfHAIAAAAAClla',
  powerpc:
    '/Td6WFoAAArh+wyhAgEFACEBFgCoVWnU4Af/AMldADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WsQSPdkN6tnKICpQqZ+4XTITSb7gY1iHs8AbFo1gKtV2z71feG8NMye92Xzi7uDc0UudASvgGpj+9jhTCbbOd69fYca9z6L93iGppVPVKfngU0b1ebYBCq9n6EfYVTGMlaWTJXOYBveHGnRq0GNM0tHq3B3hL8CUWV6bgAAAAAABnxun7Pq1DgTaxchXCpvsDVcyQmx2bVUa2jdym4ONOdQAB/QGAEAAA4eJGprbp3xwCAAAAAApZWg==',
  ia64: '/Td6WFoAAAFpIt42AgEGACEBFgAGJ/1S4Af/ANpdADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2R0GM3YpZBf5R9kHk5FaxgdhefF3c1MTMEaVv2juzGKLg9OCmPvYJT99PW5DjTQbiNimfWS4pS1aDBsfgW0zzgp3SLJDdjpXH9f9xon8E1TedYKIP3lS+N4W/Q7ldLqfCAYlfhDig41XkDc1VtI5/Sodmg9vfei2eQu+mY+H5nDdaEk7p6SLU/mYOn9eNGOFV1psVSYuFsdEJekctx25OGBXiVGKJgZ2p/usywAAAAAUAU76AAB8gGAEAAANFAQVz4wDYsCAAAAAAFZWg==',
  arm: '/Td6WFoAAATm1rRGAgEHACEBFgCj9KGZ4Af/AMpdADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WqyyCQ5GKN0E0pEUb4o5Knx40K3ggtSkGAEiwnJF/U0anivgyYBIAQxxAYl6P6d1Aq3JRqEN5ep8Yf9HmL+zXAaPmJZtvASfoL0bwo5RwgPeGRcftxpEG3/T4/6+hy48jfpWEbWGMuS9g+C9ipXiFB6XUwHDmNpJNzNivygAAAADgQWUd0ITLFgAB5gGAEAAAuRBXz7HEZ/sCAAAAAARZWg==',
  armthumb:
    '/Td6WFoAAAD/EtlBAgEIACEBFgB2Rvdo4Af/ANRdADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WqyyCQ5GKN0FnZCDX4o5Knx40K3ggtSkGAEiro5x4O6FBv9tJJZ+u07gXbvMQeJzEGunjzOQT2FmMrNN67uLtl1zjZETabc6zdbBzdGP2FjNX7EOX75eZYToRoFbeYD2vclTBIk+FtSKaH3f7uTo5XwuLQb0fovdauLNkNXLAne4LMVNOFc0AAAAB6AGAEAAAyXFd9agACvwCAAAAAABZWg==',
  arm64:
    '/Td6WFoAAArh+wyhAgEKACEBFgB95z8l4Af/AMldADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WqyyCQ5GKN0E0pEUb4o5Knx40K3ggtSkGAEiwnJF/U0anivgyYBIAQxxAYl6P6d1Aq3JRqEN5eBUGVwWUsEN/9ds64li7b1B1zNI1qtB3atBN6Yj5ktcnW/kkRaad6w2x2Rh87al2lzy7XMF1IatZ8XHV70HMjp1d7Tp9AAAAAABnxun7Pq1DgTaxchXCpvsDVcyQmx2bVUa2jdym4ONOdQAB/QGAEAAA4eJGprbp3xwCAAAAAApZWg==',
  sparc:
    '/Td6WFoAAAFpIt42AgEJACEBFgDTlauj4Af/AMldADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfCHA0nsWA2TaaaB20KfO6nbWPp22o7L+cKU8I8TCKK0f2bfK4d4WqyyCQ5GKN0E0pEUb4o5Knx40K3ggx62mjUpvm+YbFHxef9LpW6EZ1WoX847wwN2XAixwISdth7iEcxKdrqylaHrer+xsJVfouoMubphSS3305qXC6ER9BjrV65BKw4LOiTJza+QnlCRQ7ekSmHRiCo4VQjKY4glxv81TAAAAAABQBTvoAAHhAYAQAAABIFLSPjANiwIAAAAAAVla',
  delta:
    '/Td6WFoAAATm1rRGAgEDAQMhARaXj3H84Af/ASxdADGbyLBZdBcrGiBhMp7dr2z8odKoELOhhHeofmBEBWThCdf1yTGKWonZZG0i3A3k1ZYbLp+Ot1rcY6jxXt9bchSitTGcd4/rfOa1BNFgdMemNFP6TeF7Euv0voBwihNyrS/tawq0DanQJqlYQiZm6LbMUAhGw8n9mtsDhBSkv63PM+kvU7SrGK/IdpliEpSuWiRZ7NOm9imixDvkYJ96Bp/HKtcUfH0SRR0LMZlpvwhcGWd1Oby4/gEY73CVt6yn/V3LmAnXVD16nbe5skJKgRqy06A+2dcHJ9gdAL0pxoazFJSjsd1zXdMlrE2gfSi/yvEGkIXhqIfolIJz0aYVoVqaykQsdpeSM10YGW1lRSDUIGfmKfj1yklzIp5BCrpTjB8ZDJA++VDzGREMAADgQWUd0ITLFgAByAKAEAAALw5RtbHEZ/sCAAAAAARZWg==',
  'delta and x86 from 4096':
    '/Td6WFoAAArh+wyhBAIDAQEEBAAQAAAhARYAALJaYTPgB/8BEF0AMZu8L14FliBpAP4zxoAqN8idKAMswyX0Ks1nYmpdxs7LlPaSLqBTaP3VoV2gFkPOiBpQQBvdF2TEVb+Ic8s3ZgIPlyT4a6P0pGEFXIXFt8dPRX+jaEvBiYCXSORqJu7rx/Uvc0Xyhg8qKBBmarNuONqG09gC76ge68RuNGJ7uPYg9p1wT3wQYwX9DCw9Rf5QFoBQnue0yR67tippQDe3muljpFUN05HzWyQ5S0smjt3JI3LnaqPpE16zltWeogayeHSlGkCqC35Ur8tE+eqj8zb9QaddNOKy8ShkIoe59yb8L3C+iFSO3xMrR9lP7h5yW8NeVOspGQcqcrCPDgMqb1qanK4mCLixg8kFelUJxgAAZ8bp+z6tQ4E2sXIVwqb7A1XMkJsdm1VGto3cpuDjTnUAAcwCgBAAADlMwC626d8cAgAAAAAKWVo=',
  'SHA-256 in blocks':
    '/Td6WFoAAArh+wyhAgAhARYAAAB0L+Wj4APnAMRdADGbyLBRzmpR70s3KVFNtI7qPyWAaS5lM+0kUwcFT4MHjE0SeCqPfA7frK5whFRQyWf7RzQGJyFr6ar/jARTSz1y9DrCcWR8Oqp4Kejqof8wcSbMpMvjP++9oj6mWvXTjnjC0ze83bpcjepJVWS6kPOWt4FdmnUVrY/qK5rARn9jvieNwjBINFTS5R3aiDmWDh+Nzt/flHX52IJSdVoXiYe99DXfOjfqNYtyOUkV8AcSMFOB0PTyrleOVUKzEdeNbFSp9gAA69lOUC8agenIvK6PdXfNoTitj6Yt39PNIwobaIBEddUCACEBFgAAAHQv5aPgA+cAC10AAG/9//+jt1oNXgAAAFQbPp2qCbIL+F+ic+XL0+gBhapOwpjnZduHdCtwE4pTAgAhARYAAAB0L+Wj4AAvAAZdAABuOEcYAAAAABewdh+HsIHVzxB1fMyJ8SvjVccOLinfKItlswcQ3LzRAAP4AegHP+gHOjAAcC+g5RM6g9cDAAAAAApZWg==',
});
