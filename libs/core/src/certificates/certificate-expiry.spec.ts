import { expect, it } from 'vitest';
import { CERTIFICATES, tlsCrt } from '../testing/certificates.ts';
import { certificateExpiry } from './certificate-expiry.ts';

const { sooner, later } = CERTIFICATES;
const BYTES = 64 * 1024;

it.each([
  ['the first of a chain', tlsCrt(later.pem, sooner.pem), later.expiresAt],
  ['behind other text', tlsCrt('# of the shop', sooner.pem), sooner.expiresAt],
  ['with line ends of Windows', tlsCrt(sooner.pem.replaceAll('\n', '\r\n')), sooner.expiresAt],
  ['within the first 64 KiB', tlsCrt('#'.repeat(BYTES - 2_000), sooner.pem), sooner.expiresAt],
])('a certificate %s is read', (_, text, expiresAt) => {
  expect(certificateExpiry(text)).toBe(expiresAt);
});

it.each([
  ['nothing', ''],
  ['what is not base64', '%%%'],
  ['no PEM', tlsCrt('x')],
  ['another PEM', tlsCrt('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----')],
  ['an end before the begin', tlsCrt('-----END CERTIFICATE-----', '-----BEGIN CERTIFICATE-----')],
  ['a certificate without an end', tlsCrt(sooner.pem.slice(0, -30))],
  ['a damaged certificate before a sound one', tlsCrt(sooner.pem.replace('MIIB', 'AAAA'), later.pem)],
  ['a certificate behind 64 KiB', tlsCrt('#'.repeat(BYTES), sooner.pem)],
])('of %s there is no date, and no error', (_, text) => {
  expect(certificateExpiry(text)).toBeUndefined();
});
