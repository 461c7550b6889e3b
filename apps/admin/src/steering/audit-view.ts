import type { AuditEntry as AuditAnswer } from '@reroll/shared/api/audit';
import type { StreamEntry } from '@reroll/redis/history/history';
import type { AuditEntry } from '@reroll/core/history/entries';
import type { Caller } from '../auth/caller.ts';

/** `<kind>/<namespace>/<name>`, alone or after the id of a job or of what is approved; or `Namespace/<namespace>`. */
const SUBJECT = /(?:^| )(?:Namespace\/(?<itself>[^/\s]+)|[A-Za-z]+\/(?<namespace>[^/\s]+)\/[^/\s]+)$/u;

export function auditView({ id, entry }: StreamEntry<AuditEntry>): AuditAnswer {
  const { at, actor, action, target, reason, result, code, requestId } = entry;
  const shown = result === 'done' ? result : (code ?? result);
  return { id, at: new Date(at).toISOString(), actor, action, target, reason, result: shown, requestId };
}

/** Tells which namespaces are visible; undefined if that is not asked now. */
export interface Seeing {
  readonly all: boolean;
  sees(namespace: string): Promise<boolean | undefined>;
}

/**
 * Whether a caller sees an entry: their own, those about a namespace that they see, and, if they see everything, those
 * that concern all users.
 */
export async function seesAudit(
  caller: Caller,
  visible: Seeing,
  entry: AuditEntry,
): Promise<boolean | undefined> {
  if (visible.all || entry.actor === caller.name) return true;
  const namespace = namespaceOfTarget(entry);
  return namespace === undefined ? false : await visible.sees(namespace);
}

/** The namespace that an entry is about; undefined if it is about none. */
export function namespaceOfTarget({ target }: Pick<AuditEntry, 'target'>): string | undefined {
  const { itself, namespace = itself } = SUBJECT.exec(target)?.groups ?? {};
  return namespace;
}
