import type { KubeObject } from '../objects.ts';

interface WithSelector extends KubeObject {
  readonly spec?: { readonly selector?: unknown };
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** Keys and values of labels, without characters that are special in a selector. */
const LABEL_TEXT = /^[A-Za-z0-9._/-]*$/u;
const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/**
 * Returns the workload's `spec.selector` as a query of the API. A DeploymentConfig's is a map of labels, that of other kinds a
 * LabelSelector. Undefined: there is none, it would select everything, or it cannot be understood.
 */
export function podSelector({ spec }: WithSelector): string | undefined {
  const { selector } = spec ?? {};
  if (typeof selector !== 'object' || selector === null) return undefined;
  const isLabelSelector = 'matchLabels' in selector || 'matchExpressions' in selector;
  const { matchLabels = {}, matchExpressions = [] } = (
    isLabelSelector ? selector : { matchLabels: selector }
  ) as { matchLabels?: Readonly<Record<string, string>>; matchExpressions?: readonly Expression[] };
  const parts = [
    ...Object.entries(matchLabels).map(([key, value]) => (areLabels(key, value) ? `${key}=${value}` : '')),
    ...matchExpressions.map(expressionText),
  ];
  return parts.length === 0 || parts.includes('') ? undefined : parts.join(',');
}

/** '' if it cannot be understood. */
function expressionText({ key, operator, values = [] }: Expression): string {
  return areLabels(key, ...values) ? (OPERATORS[operator]?.(key, values.join(',')) ?? '') : '';
}

function areLabels(...texts: readonly unknown[]): boolean {
  return texts.every((text) => typeof text === 'string' && LABEL_TEXT.test(text));
}
