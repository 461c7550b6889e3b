import { describe, expect, test } from 'vitest';
import { JsonLines } from './json-lines.ts';

function readAll(chunks: readonly Buffer[]): unknown[] {
  const lines = new JsonLines();
  return chunks.flatMap((chunk) => [...lines.push(chunk)]);
}

describe('splitting a stream into JSON documents', () => {
  const text = '{"a":"zwölf €"}\n{"b":2}\n\n{"c":[1,2,3]}\n';
  const documents = [{ a: 'zwölf €' }, { b: 2 }, { c: [1, 2, 3] }];

  test.each([1, 2, 3, 5, 7, 16, 1000])('comes to the same in chunks of %i bytes', (size) => {
    const bytes = Buffer.from(text);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    expect(readAll(chunks)).toEqual(documents);
  });

  test('a last line without line feed is given at the end only', () => {
    const lines = new JsonLines();
    expect([...lines.push(Buffer.from('{"a":1}\n{"b":'))]).toEqual([{ a: 1 }]);
    expect([...lines.push(Buffer.from('2}'))]).toEqual([]);
    expect(lines.end()).toEqual({ b: 2 });
    expect(lines.end()).toBeUndefined();
  });

  test('a line of 32 MiB in pieces of 16 KiB takes time linear in its length', () => {
    const piece = Buffer.alloc(16 * 1024, 'x');
    const quote = Buffer.from('"');
    const began = performance.now();
    const [document] = readAll([quote, ...Array.from({ length: 2048 }, () => piece), Buffer.from('"\n')]);
    expect((document as string).length).toBe(2048 * piece.length);
    // Joining at each piece would move 32 GiB.
    expect(performance.now() - began).toBeLessThan(3000);
  });

  test('what is no JSON is refused without being quoted', () => {
    expect(() => readAll([Buffer.from('{"password": hunter2}\n')])).toThrow(
      /^expected one JSON document per line, given something else$/,
    );
  });

  test('a line without end is refused at the limit', () => {
    const lines = new JsonLines({ maxLineBytes: 10 });
    expect(() => [...lines.push(Buffer.from('"0123456789'))]).toThrow(/given no end/);
  });
});
