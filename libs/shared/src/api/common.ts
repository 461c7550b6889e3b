import { z } from 'zod';
import { SOURCE_KINDS, WORKLOAD_KINDS } from '@reroll/core/model';
import { REASONS, type Reason } from '@reroll/core/reasons';

/** RFC 3339, UTC, milliseconds. */
export const time = z.iso.datetime().meta({ id: 'Time', example: '2026-11-21T15:00:00.000Z' });

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
export const workloadKeyText = z
  .string()
  .regex(
    new RegExp(`^(${WORKLOAD_KINDS.join('|')})/[a-z0-9][-a-z0-9]{0,62}/[a-z0-9][-a-z0-9.]{0,252}$`),
    'expected <kind>/<namespace>/<name> of a workload, e.g. Deployment/shop/web',
  )
  .meta({ id: 'WorkloadKey', example: 'Deployment/shop/web' });

export const sourceKeyText = z
  .string()
  .regex(
    new RegExp(`^(${SOURCE_KINDS.join('|')})/[a-z0-9][-a-z0-9]{0,62}/[a-z0-9][-a-z0-9.]{0,252}$`),
    'expected <kind>/<namespace>/<name> of a source, e.g. Secret/shop/db',
  )
  .meta({ id: 'SourceKey', example: 'Secret/shop/db' });

export const reason = z
  .enum(Object.keys(REASONS) as [Reason, ...Reason[]])
  .meta({ id: 'Reason', description: 'See docs/reference/reasons.md.' });

/** Of a Secret or a SecretProviderClass only keyed, and for each source otherwise: data of a weak password can be guessed. */
export const hash = z.string().meta({
  id: 'Hash',
  description:
    'Of the data, never the data; of a Secret only under a key and to be compared with hashes of the same Secret.',
});

export const annotations = z.record(z.string().max(317), z.string().max(16_384)).meta({ id: 'Annotations' });

/** Why a person does what they do; it goes into history and audit. */
export const writeReason = z
  .string()
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
    description: 'The same key with the same request is done once, and answered the same, for 24 hours.',
  });
