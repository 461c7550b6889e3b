import type { ApiObject } from './api-object.ts';
import type { ResourceType } from './resource-types.ts';
import { badRequest } from './status-error.ts';

export type Predicate = (object: ApiObject) => boolean;

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const SET = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/;
const EQUALITY = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/;
const PRESENCE = /^(!?)\s*([^=!\s]+)$/;

function requirement(text: string): Requirement {
  const set = SET.exec(text);
  if (set) {
    const [, key = '', operator, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    return (labels) => values.includes(labels[key] ?? '\0') === (operator === 'in');
  }
  const equality = EQUALITY.exec(text);
  if (equality) {
    const [, key = '', operator, value] = equality;
    return (labels) => (labels[key] === value) === (operator !== '!=');
  }
  const presence = PRESENCE.exec(text);
  if (!presence) throw badRequest(`unable to parse requirement: ${text}`);
  const [, not, key = ''] = presence;
  return (labels) => (labels[key] === undefined) === (not === '!');
}

/** Splits at commas that are outside of parentheses. */
function requirementsOf(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** A label selector as in a query. Throws a `StatusError` 400 if it cannot be parsed. */
export function labelPredicate(selector: string): Predicate {
  const requirements = requirementsOf(selector).map(requirement);
  return ({ metadata }) => requirements.every((holds) => holds(metadata.labels ?? {}));
}

function fieldOf(object: ApiObject, path: string): string {
  const found = path
    .split('.')
    .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], object);
  return typeof found === 'string' ? found : '';
}

const FIELD = /^([^=!]+)(==|=|!=)(.*)$/s;

function fieldRequirement(type: ResourceType, text: string): Predicate {
  const [, path = '', operator, escaped = ''] = FIELD.exec(text) ?? [];
  const known =
    path === 'metadata.name' ||
    (path === 'metadata.namespace' && type.isNamespaced) ||
    type.fields.includes(path);
  if (!known) throw badRequest(`field label not supported: ${path}`);
  const value = escaped.replace(/\\([\\,=])/g, '$1');
  return (object) => (fieldOf(object, path) === value) === (operator !== '!=');
}

/** A field selector as in a query. Throws a `StatusError` 400 for a field that the kind does not select by. */
export function fieldPredicate(type: ResourceType, selector: string): Predicate {
  const parts = selector.split(/(?<!\\),/).filter((part) => part !== '');
  const requirements = parts.map((part) => fieldRequirement(type, part));
  return (object) => requirements.every((holds) => holds(object));
}
