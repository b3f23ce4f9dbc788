import { crc32 } from 'node:zlib';
import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { CharacterError } from '../../characters/character-error.ts';
import { readCard } from '../../characters/tavern/card-file.ts';
import { readCardBytes, writeCardBytes } from '../../characters/tavern/open-card.ts';
import { blankPng, largestPngBytes } from '../../characters/tavern/png.ts';
import { toPack } from '../../characters/tavern/to-pack.ts';

const small = { name: 'Mara', description: 'A keeper.', first_mes: 'Come in.' };

function pngWith(text: string): Uint8Array {
  const png = blankPng('x');
  const body = Buffer.from(`chara\0${text}`, 'latin1');
  const chunk = Buffer.alloc(12 + body.length);
  chunk.writeUInt32BE(body.length, 0);
  chunk.write('tEXt', 4, 'latin1');
  chunk.set(body, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + body.length)), 8 + body.length);
  return Buffer.concat([png.subarray(0, -12), chunk, png.subarray(-12)]);
}

/** The central directory states the sizes of the entries; an archive bomb states them, or lies. */
function claiming(zip: Uint8Array, sizeBytes: number): Uint8Array {
  const copy = Buffer.from(zip);
  const directory = copy.indexOf(Buffer.from([0x50, 0x4b, 0x01, 0x02]));
  copy.writeUInt32LE(sizeBytes, directory + 24);
  return copy;
}

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const bomb = zipSync({ 'card.json': [new Uint8Array(9 * 1024 * 1024), { level: 9 }] });
const hugePng = Buffer.alloc(50 * 1024 * 1024);
hugePng.set(blankPng('x'));

describe('hostile card that is rejected', () => {
  const hostile: Readonly<Record<string, readonly [Uint8Array, RegExp]>> = {
    'a PNG of 50 MB': [hugePng, new RegExp(`larger than ${largestPngBytes / 1024 / 1024} MB`)],
    'a PNG without a card': [blankPng('x'), /contains no card/],
    'a PNG that is cut off': [blankPng('x').subarray(0, 300), /truncated/],
    'a chunk that is longer than the file': [
      (() => {
        const png = Buffer.from(blankPng('x'));
        png.writeUInt32BE(0xffff_fff0, 8);
        return png;
      })(),
      /truncated/,
    ],
    'a card damaged inside its picture': [
      (() => {
        const png = Buffer.from(pngWith(Buffer.from(JSON.stringify(small)).toString('base64')));
        png.writeUInt8(png.readUInt8(png.indexOf('chara') + 20) ^ 0x01, png.indexOf('chara') + 20);
        return png;
      })(),
      /damaged/,
    ],
    'a picture whose card is no base64': [pngWith('%%%%'), /not valid JSON/],
    'a zip bomb': [bomb, /exceeds the limit/],
    'a zip bomb that claims to be small': [claiming(bomb, 100), /not valid JSON|damaged/],
    'an archive of many files': [
      zipSync(Object.fromEntries(Array.from({ length: 2_100 }, (_, index) => [`a${index}`, new Uint8Array(1)]))),
      /exceeds the limit/,
    ],
    'an archive without a card': [zipSync({ 'readme.txt': new Uint8Array(4) }), /no card\.json/],
    'an archive that is cut off': [zipSync({ 'card.json': new Uint8Array(400) }).subarray(0, 90), /damaged/],
    'JSON nested a thousand levels': [Buffer.from(nested(1_000)), /nested deeper/],
    'JSON nested a million levels': [
      Buffer.from(nested(1_000_000)),
      /nested deeper|not valid JSON|more than 300000 values/,
    ],
    'a list instead of a card': [Buffer.from('[]'), /a card must be a JSON object/],
    'a card without a name': [Buffer.from('{"name":"  ","description":"x"}'), /no name/],
    'fields of wrong types': [Buffer.from('{"name":"Mara","description":{"a":1}}'), /description/],
    'a version from elsewhere': [Buffer.from('{"spec":"chara_card_v9","data":{}}'), /chara_card_v9/],
    'a lorebook by itself': [Buffer.from('{"spec":"lorebook_v3","data":{"entries":[]}}'), /lorebook by itself/],
    'a description of a million characters': [
      Buffer.from(JSON.stringify({ ...small, description: 'a'.repeat(1_000_000) })),
      /description/,
    ],
    'bytes of nothing': [Buffer.from([0, 1, 2, 3]), /not valid JSON/],
  };

  it.each(Object.entries(hostile))('a hostile card is rejected with one clear error: %s', (name, [bytes, message]) => {
    const read = (): unknown => readCardBytes(bytes, name);
    expect(read).toThrow(CharacterError);
    expect(read).toThrow(message);
    expect(read).toThrow(name);
  });
});

describe('hostile card that is read', () => {
  it('paths that leave the archive are not unpacked', () => {
    const zip = zipSync({
      'card.json': Buffer.from(JSON.stringify(small)),
      '../../evil.sh': new Uint8Array(1),
      '/etc/evil': new Uint8Array(1),
      'assets\\..\\..\\evil': new Uint8Array(1),
      'assets/good.png': new Uint8Array(1),
    });
    expect([...readCardBytes(zip, 'zip').files.keys()]).toEqual(['assets/good.png']);
  });

  it('script tags and markup of a card are not spoken, and are exported unchanged', () => {
    const evil = readCard(
      { ...small, first_mes: '<script>alert(1)</script> **Come** in. <img src=x onerror=y>' },
      'evil',
    );
    expect(toPack(evil, 'evil').card.greetings).toEqual(['Come in.']);
    const back = readCardBytes(writeCardBytes({ card: evil, files: new Map() }, 'png', 'v3'), 'back');
    expect(back.card.data.first_mes).toBe(evil.data.first_mes);
  });

  it('a card name that looks like a path becomes a plain id', () => {
    const id = (name: string): string => toPack(readCard({ ...small, name }, 'id'), 'id').card.id;
    expect(id('../../etc/passwd')).toBe('etc-passwd');
    expect(id('D’Artagnan & Co.')).toBe('dartagnan-co');
    expect(id('孙悟空')).toMatch(/^character-[0-9a-f]{8}$/);
    expect(id('Ayaka 绫华')).toMatch(/^ayaka-[0-9a-f]{8}$/);
    expect(id('__proto__')).toBe('proto');
  });
});
