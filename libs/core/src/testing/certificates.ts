/**
 * Two certificates for specs. Their keys were thrown away:
 * `openssl req -x509 -newkey ed25519 -nodes -days DAYS -subj /CN=reroll.example -keyout /dev/null`.
 */
export const CERTIFICATES = {
  /** Expires first. */
  sooner: {
    pem: `-----BEGIN CERTIFICATE-----
MIIBRjCB+aADAgECAhRrURquRMMs/2ptvOcGn/axUVQ6DTAFBgMrZXAwGTEXMBUG
A1UEAwwOcmVyb2xsLmV4YW1wbGUwHhcNMjYxMTI1MTIxNDQ5WhcNMjcxMjMwMTIx
NDQ5WjAZMRcwFQYDVQQDDA5yZXJvbGwuZXhhbXBsZTAqMAUGAytlcAMhAILDqlcT
i+uIBsZKnpC7oe6jl7CXHbmsDjeEEcwpNXdVo1MwUTAdBgNVHQ4EFgQUXayOEsMi
mWz082yZjPDls70QlpEwHwYDVR0jBBgwFoAUXayOEsMimWz082yZjPDls70QlpEw
DwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDMqnx74537Nrx/u5bf82PhzP1Ur15V
db9AI/d7Hhwv7ZlxOztj4IufFPBbgNakkt28YaBdGhusdWkaaHC7GLkP
-----END CERTIFICATE-----
`,
    expiresAt: Date.UTC(2027, 11, 30, 12, 14, 49) / 1000,
  },
  later: {
    pem: `-----BEGIN CERTIFICATE-----
MIIBRjCB+aADAgECAhRyTiIu3yPR/zpxiKuqxvC+Re65qzAFBgMrZXAwGTEXMBUG
A1UEAwwOcmVyb2xsLmV4YW1wbGUwHhcNMjYxMTI1MTIxNDUwWhcNMjkwMjAyMTIx
NDUwWjAZMRcwFQYDVQQDDA5yZXJvbGwuZXhhbXBsZTAqMAUGAytlcAMhABKIL49Z
gW50eJs7sxjkJ7OJs33gaE+KbnkxKyCCjEV6o1MwUTAdBgNVHQ4EFgQUO6QQHA69
Bo5Zy3Sd+hhALqNDrTYwHwYDVR0jBBgwFoAUO6QQHA69Bo5Zy3Sd+hhALqNDrTYw
DwYDVR0TAQH/BAUwAwEB/zAFBgMrZXADQQDgQ7bDJS5x85K03Lu8Yn9khhVlPAvM
tzykgzzvsTXNog3PPX3FtiEyalkSMYK5Ye5sBka30h6JcyOByn02jRIM
-----END CERTIFICATE-----
`,
    expiresAt: Date.UTC(2029, 1, 2, 12, 14, 50) / 1000,
  },
} as const;

/** The `tls.crt` of a Secret, as the API serves it. */
export function tlsCrt(...texts: readonly string[]): string {
  return Buffer.from(texts.join('\n')).toString('base64');
}
