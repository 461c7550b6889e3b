import { at } from '../look.ts';
import { manifestsWith, type Manifest } from '../render.ts';

/** Every image that the objects name, once, in order. */
export function imagesOf(manifests: readonly Manifest[]): readonly string[] {
  const images = manifests.flatMap((object) => {
    const spec = object.kind === 'Pod' ? at(object, 'spec') : at(object, 'spec.template.spec');
    const containers = (at(spec, 'containers') ?? []) as readonly { image: string }[];
    return containers.map(({ image }) => image);
  });
  return [...new Set(images)].sort();
}

/** deploy/helm/reroll/images.txt: what has to be copied for a cluster without the internet. */
export async function imagesFile(): Promise<string> {
  return `${imagesOf(await manifestsWith()).join('\n')}\n`;
}
