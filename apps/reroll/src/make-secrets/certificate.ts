import { webcrypto } from 'node:crypto';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const YEARS = 10;

/**
 * Makes a certificate for these hosts, signed by an authority that is made for it and whose key is then forgotten. All values are PEM.
 */
export async function serverCertificate(
  hosts: readonly string[],
): Promise<Readonly<Record<'ca.crt' | 'tls.crt' | 'tls.key', string>>> {
  const x509 = await import('@peculiar/x509');
  const [authorityKeys, keys] = await Promise.all([newKeys(), newKeys()]);
  const notBefore = new Date();
  const notAfter = new Date(notBefore);
  notAfter.setUTCFullYear(notBefore.getUTCFullYear() + YEARS);
  const dates = { notBefore, notAfter };
  const [commonName = ''] = hosts;
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`${commonName}-ca`] }],
    keys: authorityKeys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
    ...dates,
  });
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName] }],
    issuer: authority.subjectName,
    publicKey: keys.publicKey,
    signingKey: authorityKeys.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(hosts.map((value) => ({ type: typeOf(value), value }))),
      await x509.AuthorityKeyIdentifierExtension.create(authorityKeys.publicKey),
    ],
    ...dates,
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    'ca.crt': `${authority.toString('pem')}\n`,
    'tls.crt': `${certificate.toString('pem')}\n`,
    'tls.key': `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function typeOf(host: string): 'dns' | 'ip' {
  return /^[0-9.]+$/.test(host) ? 'ip' : 'dns';
}
