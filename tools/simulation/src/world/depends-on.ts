/** The rules that the world uses, once more and without regard to speed; the vectors prove Reroll's own. */
import { templateOf } from './objects.ts';
import type { KubeObject } from './shapes.ts';

type Annotations = Readonly<Record<string, string>>;

const IGNORE = 'reloader.stakater.com/ignore';

/** Whether a change of the source is to reload the workload, as both are now. `source`: `ConfigMap/ns/name`; the object if there is one. */
export function dependsOn(workload: KubeObject, object: KubeObject | undefined, source: string): boolean {
  const [kind = '', , name = ''] = source.split('/');
  const annotations = annotationsOf(workload);
  const ofSource = annotationsOf(object);
  const type = kind.toLowerCase();
  const excluded = annotations[`${type}s.exclude.reloader.stakater.com/reload`] ?? '';
  if (annotations[IGNORE] === 'true' || ofSource[IGNORE] === 'true' || excluded.split(',').includes(name))
    return false;
  const named = annotations[`${type}.reloader.stakater.com/reload`];
  if (named !== undefined) return named.split(',').some((each) => new RegExp(`^(${each})$`).test(name));
  return isAsked(annotations, ofSource) && uses(workload, kind, name);
}

function annotationsOf(object: KubeObject | undefined): Annotations {
  return object?.metadata.annotations ?? {};
}

function isAsked(annotations: Annotations, ofSource: Annotations): boolean {
  if (annotations['reloader.stakater.com/auto'] === 'true') return true;
  const searches = annotations['reloader.stakater.com/search'] === 'true';
  return searches && ofSource['reloader.stakater.com/match'] === 'true';
}

function uses(workload: KubeObject, kind: string, name: string): boolean {
  const use = kind === 'Secret' ? `"secretName":"${name}"` : `{"name":"${name}"}`;
  return JSON.stringify(templateOf(workload)).includes(use);
}
