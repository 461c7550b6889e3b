import { KubeError } from '@reroll/kube/client/errors';

/**
 * Whether a patch met another object than the one that was read. A failed `test` is 422 without causes (an
 * invalid object has causes); 404 and 409 are seen at the next read.
 */
export function isOvertaken(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  return error.status === 404 || error.status === 409 || (error.status === 422 && error.causes.length === 0);
}
