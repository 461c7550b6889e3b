import { describe, expect, it } from 'vitest';
import { layout, shortened } from './picture-layout.ts';

const hub = { kind: 'Secret', namespace: 'shop', name: 'db' };

function spokes(count: number): { ref: typeof hub; rolls: boolean }[] {
  return Array.from({ length: count }, (_, index) => ({
    ref: { kind: 'Deployment', namespace: 'shop', name: `web-${index}` },
    rolls: index % 2 === 1,
  }));
}

describe.each([320, 519, 520, 1_200])('the picture in %i pixels', (width) => {
  const picture = layout({ width, hub, spokes: spokes(7), isHubLeft: true });

  it('has a box for each, within its frame, and none over another', () => {
    expect(picture.boxes).toHaveLength(8);
    for (const box of picture.boxes) {
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(width);
      expect(box.y).toBeGreaterThanOrEqual(0);
      expect(box.y + box.height).toBeLessThanOrEqual(picture.height);
      const over = picture.boxes.filter(
        (other) =>
          other !== box &&
          other.x < box.x + box.width &&
          box.x < other.x + other.width &&
          other.y < box.y + box.height &&
          box.y < other.y + other.height,
      );
      expect(over).toEqual([]);
    }
  });

  it('shows those that reload first, with a line each', () => {
    expect(picture.lines.map(({ rolls }) => rolls)).toEqual([true, true, true, false, false, false, false]);
  });
});

it('counts what is beyond twelve in one box', () => {
  const { boxes } = layout({ width: 800, hub, spokes: spokes(30), isHubLeft: false });
  expect(boxes).toHaveLength(13);
  expect(boxes.at(-1)).toMatchObject({ ref: undefined, name: '19 more, in the table' });
});

it('names the namespace only of what is in another one', () => {
  const other = { ref: { kind: 'Deployment', namespace: 'billing', name: 'web' }, rolls: true };
  const { boxes } = layout({ width: 800, hub, spokes: [...spokes(1), other], isHubLeft: true });
  expect(boxes.map(({ name }) => name)).toEqual(['db', 'billing/web', 'web-0']);
});

it.each([
  ['short', 10, 'short'],
  ['a-very-long-name', 9, 'a-ve…name'],
])('%s in %i letters is %s', (text, most, cut) => {
  expect(shortened(text, most)).toBe(cut);
});
