import { z } from 'zod';
import { SOURCE_KINDS, WORKLOAD_KINDS, type Key, type SourceKey, type WorkloadKey } from '@reroll/core/model';
import { REASONS, type Reason } from '@reroll/core/reasons';

/** RFC 3339, UTC, milliseconds. */
export const time = z.iso
  .datetime('expected a time in UTC, e.g. 2026-11-21T15:00:00Z')
  .meta({ id: 'Time', example: '2026-11-21T15:00:00.000Z' });

const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export const namespaceName = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'expected the name of a namespace')
  .meta({ id: 'NamespaceName', example: 'shop' });

export const objectName = z
  .string()
  .regex(DNS_SUBDOMAIN, "expected an object's name")
  .meta({ id: 'ObjectName', example: 'web' });

export const workloadKind = z.enum(WORKLOAD_KINDS).meta({ id: 'WorkloadKind' });
export const sourceKind = z.enum(SOURCE_KINDS).meta({ id: 'SourceKind' });

export const workloadRef = z
  .strictObject({ kind: workloadKind, namespace: namespaceName, name: objectName })
  .meta({ id: 'WorkloadRef' });

export const sourceRef = z
  .strictObject({ kind: sourceKind, namespace: namespaceName, name: objectName })
  .meta({ id: 'SourceRef' });

/** `<kind>/<namespace>/<name>` in a query. */
export const workloadKeyText = keyText<WorkloadKey>(WORKLOAD_KINDS, 'a workload', {
  id: 'WorkloadKey',
  example: 'Deployment/shop/web',
});

export const sourceKeyText = keyText<SourceKey>(SOURCE_KINDS, 'a source', {
  id: 'SourceKey',
  example: 'Secret/shop/db',
});

function keyText<ObjectKey extends Key<string>>(
  kinds: readonly string[],
  what: string,
  meta: { id: string; example: ObjectKey },
): z.ZodType<ObjectKey, string> {
  const form = new RegExp(`^(${kinds.join('|')})/[a-z0-9][-a-z0-9]{0,62}/[a-z0-9][-a-z0-9.]{0,252}$`);
  const expected = `expected <kind>/<namespace>/<name> of ${what}, e.g. ${meta.example}`;
  return z.string().regex(form, expected).meta(meta) as z.ZodType<string> as z.ZodType<ObjectKey, string>;
}

export const reason = z
  .enum(Object.keys(REASONS) as [Reason, ...Reason[]])
  .meta({ id: 'Reason', description: 'See docs/reference/reasons.md.' });

/**
 * A hash as it may be shown: that of a ConfigMap as it is, any other keyed and different for each source, so that weak passwords cannot
 * be guessed.
 */
export const hash = z.string().meta({
  id: 'Hash',
  description:
    'Hash of the data, never the data. That of a Secret is keyed, and can be compared only with hashes of the same Secret.',
});

export const annotations = z.record(z.string().max(317), z.string().max(16_384)).meta({ id: 'Annotations' });

/** Why the user makes the write; kept in history and audit log. Redis' scripts cannot decode a lone surrogate. */
export const writeReason = z
  .string()
  .overwrite((text) => text.toWellFormed())
  .trim()
  .min(1)
  .max(200)
  .meta({ id: 'WriteReason', example: 'rotated by hand' });

/** The header `Idempotency-Key` of a write. */
export const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 printable characters without blanks')
  .meta({
    id: 'IdempotencyKey',
    description:
      'For 24 hours, the same request with the same key is executed once and gets the same response. Of the latest 1,000 keys of a caller only, so repeat a write soon.',
  });
