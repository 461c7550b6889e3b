import { OPERATIONS, type Operation } from '@reroll/shared/api/operations';

export const API = '/api/v1';

const PATHS = Object.values<Operation>(OPERATIONS).map(({ method, path }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^${API}${path.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u'),
}));

/** The methods of a path; empty if it is not a path of the API. */
export function methodsOf(path: string): readonly string[] {
  return PATHS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
}
