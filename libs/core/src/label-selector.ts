/** One requirement of a label selector, as the API server reads it. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'exists' | 'absent' | 'in' | 'notin' | '>' | '<';
  /** For `in` and `notin`; empty text counts. For `>` and `<`: one whole number. */
  readonly values: readonly string[];
}

export type LabelSelector = readonly LabelRequirement[];

const KEY = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?$/u;
const VALUE = /^(?:[A-Za-z0-9](?:[-\w.]{0,61}[A-Za-z0-9])?)?$/u;

/**
 * Parses a selector (`env=prod,team in (a,b),!legacy`); undefined if it is invalid. Accepts the older spellings of
 * stakater/Reloader too: `a:b` for `a=b`, and `a:*` or `a=*` for `a`.
 */
export function parseLabelSelector(text: string): LabelSelector | undefined {
  const found: LabelRequirement[] = [];
  for (const part of text.split(/,(?![^(]*\))/u)) {
    const requirement = readRequirement(part.trim());
    if (!requirement) return undefined;
    found.push(requirement);
  }
  return found;
}

export function labelSelectorText(selector: LabelSelector): string {
  return selector.map(requirementText).join(',');
}

export function matchesLabels(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  return selector.every(({ key, operator, values }) => {
    const value = labels?.[key];
    if (operator === 'exists') return value !== undefined;
    if (operator === 'absent') return value === undefined;
    if (operator === '>' || operator === '<') return isBeyond(value, operator, values);
    return (value !== undefined && values.includes(value)) === (operator === 'in');
  });
}

/** Only a label that is a whole number is greater or less than another. */
function isBeyond(label: string | undefined, operator: '>' | '<', [bound]: readonly string[]): boolean {
  const [value, limit] = [integer(label), integer(bound)];
  if (value === undefined || limit === undefined) return false;
  return operator === '>' ? value > limit : value < limit;
}

/** Undefined if it is not an integer of 64 bits. The value of a label has no sign. */
function integer(text = ''): bigint | undefined {
  const value = /^\d+$/u.test(text) ? BigInt(text) : undefined;
  return value !== undefined && value < 2n ** 63n ? value : undefined;
}

function readRequirement(part: string): LabelRequirement | undefined {
  const set = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/u.exec(part);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    return checked(
      key,
      operator as 'in' | 'notin',
      list.split(',').map((value) => value.trim()),
    );
  }
  const comparison = /^([^!=:<>]+?)\s*(==|!=|=|:|>|<)\s*(.*)$/u.exec(part);
  if (comparison) return readComparison(comparison);
  return part.startsWith('!') ? checked(part.slice(1).trim(), 'absent', []) : checked(part, 'exists', []);
}

function readComparison([, key = '', operator, value = '']: RegExpExecArray): LabelRequirement | undefined {
  if (operator === '!=') return checked(key, 'notin', [value]);
  if (operator === '>' || operator === '<')
    return integer(value) === undefined ? undefined : checked(key, operator, [value]);
  return value === '*' ? checked(key, 'exists', []) : checked(key, 'in', [value]);
}

function checked(
  key: string,
  operator: LabelRequirement['operator'],
  values: readonly string[],
): LabelRequirement | undefined {
  return KEY.test(key) && values.every((value) => VALUE.test(value)) ? { key, operator, values } : undefined;
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === 'absent') return `!${key}`;
  const [value = ''] = values;
  if (operator === '>' || operator === '<') return `${key}${operator}${value}`;
  if (values.length === 1) return `${key}${operator === 'in' ? '=' : '!='}${value}`;
  return `${key} ${operator} (${values.join(',')})`;
}
