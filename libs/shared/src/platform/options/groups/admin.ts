/** Where the admin API is served, and who may use it. */
import { ADMIN, options } from '../parsing/option.ts';
import {
  bool,
  duration,
  integer,
  listenAddress,
  matching,
  networks,
  oneOf,
  optionalPath,
} from '../parsing/values.ts';

export const adminOptions = options('Admin API', {
  apiAddr: {
    flag: '--api-addr',
    default: ':8080',
    apps: ADMIN,
    description: 'Address of the API and the dashboard. Port 0 selects a free port.',
    ...listenAddress(),
  },
  apiTlsCertFile: {
    flag: '--api-tls-cert-file',
    default: '',
    apps: ADMIN,
    description:
      'PEM file with the certificate of the API. It is reloaded when it changes. Requires --api-tls-key-file. Unset: plain HTTP, for clusters that terminate TLS in front of the admin.',
    ...optionalPath('the path of a file'),
  },
  apiTlsKeyFile: {
    flag: '--api-tls-key-file',
    default: '',
    apps: ADMIN,
    description: 'PEM file with the private key of that certificate.',
    ...optionalPath('the path of a file'),
  },
  auth: {
    flag: '--auth',
    default: 'kubernetes',
    apps: ADMIN,
    description:
      'How bearer tokens are checked: `kubernetes` uses TokenReview and SubjectAccessReview, `static` uses --static-tokens-file.',
    ...oneOf(['kubernetes', 'static']),
  },
  apiAudience: {
    flag: '--api-audience',
    default: 'reroll',
    apps: ADMIN,
    description:
      'Audience that Kubernetes tokens must have, as in `kubectl create token NAME --audience=reroll`. With --auth=kubernetes.',
    ...matching('the name of an audience, without blanks', /^[!-~]{1,253}$/),
  },
  apiAcceptApiServerTokens: {
    flag: '--api-accept-api-server-tokens',
    default: 'false',
    apps: ADMIN,
    description:
      'Also accept tokens for the API server itself (`kubectl create token NAME`, OIDC, exec plugins). Whoever controls an admin or reads its traffic can then act as the owners of these tokens in the whole cluster. With --auth=kubernetes.',
    ...bool(),
  },
  staticTokensFile: {
    flag: '--static-tokens-file',
    default: '',
    apps: ADMIN,
    description:
      'YAML or JSON file: a list of entries with `name`, `sha256` (of the token, in hex), `access` (read or write) and `namespaces` (names, or "*"). It is reloaded when it changes. Requires --auth=static.',
    ...optionalPath('the path of a file'),
  },
  anonymous: {
    flag: '--anonymous',
    default: 'none',
    apps: ADMIN,
    description: 'What a request without a token may do: nothing, or read everything.',
    ...oneOf(['none', 'read']),
  },
  apiRequestsPerMinute: {
    flag: '--api-requests-per-minute',
    default: '600',
    apps: ADMIN,
    description:
      'Maximum number of requests per minute from one caller to one admin. Further requests are answered with 429.',
    ...integer({ min: 1, max: 1_000_000 }),
  },
  apiRequestsPerMinutePerAddress: {
    flag: '--api-requests-per-minute-per-address',
    default: '6000',
    apps: ADMIN,
    description:
      'Maximum number of requests per minute from one address without a token or with a token that was not valid when last checked. Other requests do not count. Behind a proxy, such as that of the API server, all callers share one address unless --api-trusted-proxies names the proxy.',
    ...integer({ min: 1, max: 1_000_000 }),
  },
  apiTrustedProxies: {
    flag: '--api-trusted-proxies',
    default: '',
    apps: ADMIN,
    description:
      "Networks of trusted proxies in front of the admin (an ingress, the control plane). For requests through them, the caller's address is the last one in `X-Forwarded-For` that is not a trusted proxy; the header is ignored in all other requests. List proxies only.",
    ...networks(),
  },
  apiRequestTimeout: {
    flag: '--api-request-timeout',
    default: '15s',
    apps: ADMIN,
    description: 'Timeout of an API request; after it the answer is 503. Server-sent events have no timeout.',
    ...duration({ min: 100, max: 300_000 }),
  },
});
