import type { WorkloadKind } from '../model.ts';
import { DEFAULT_ANNOTATION_KEYS } from '../annotations/annotation-keys.ts';
import type { Reason } from '../reasons.ts';
import type { DecisionInput, DecisionSettings } from '../rules/decision.ts';

export type Step = (input: DecisionInput) => DecisionInput;
type Texts = Readonly<Record<string, string>>;

const PREFIX = 'reloader.stakater.com';

/** Returns a Deployment and a ConfigMap `app-config` without annotations and settings, changed by the steps. */
export function decisionInput(...steps: readonly Step[]): DecisionInput {
  const plain: DecisionInput = {
    source: { kind: 'ConfigMap', name: 'app-config', annotations: {} },
    workload: { kind: 'Deployment', annotations: {}, podAnnotations: {} },
    settings: { keys: DEFAULT_ANNOTATION_KEYS, autoReloadAll: false, ignoredWorkloadTypes: [] },
  };
  return steps.reduce((input, step) => step(input), plain);
}

export function source(kind: DecisionInput['source']['kind'], name: string): Step {
  return (input) => ({ ...input, source: { ...input.source, kind, name } });
}

export function configMap(name: string): Step {
  return source('ConfigMap', name);
}

export function secret(name: string): Step {
  return source('Secret', name);
}

export function sourceSays(annotations: Texts): Step {
  return (input) => ({ ...input, source: { ...input.source, annotations: keyed(annotations) } });
}

export function workloadOfKind(kind: WorkloadKind): Step {
  return (input) => ({ ...input, workload: { ...input.workload, kind } });
}

export function leftAlone(reason: Reason): Step {
  return (input) => ({ ...input, workload: { ...input.workload, leftAlone: reason } });
}

export function workloadSays(annotations: Texts): Step {
  return (input) => ({ ...input, workload: { ...input.workload, annotations: keyed(annotations) } });
}

export function podTemplateSays(annotations: Texts): Step {
  return (input) => ({ ...input, workload: { ...input.workload, podAnnotations: keyed(annotations) } });
}

export function settings(changed: Partial<DecisionSettings>): Step {
  return (input) => ({ ...input, settings: { ...input.settings, ...changed } });
}

/** `/auto` -> `reloader.stakater.com/auto`, `secret/auto` -> `secret.reloader.stakater.com/auto`. */
function keyed(annotations: Texts): Texts {
  return Object.fromEntries(
    Object.entries(annotations).map(([short, value]) => {
      const [prefix = '', name = ''] = short.split('/');
      return [`${prefix === '' ? '' : `${prefix}.`}${PREFIX}/${name}`, value];
    }),
  );
}
