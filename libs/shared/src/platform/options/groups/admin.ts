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
      "PEM file with the API's certificate. It is reloaded when it changes. Requires --api-tls-key-file. Unset: plain HTTP, for clusters that terminate TLS in front of the admin.",
    ...optionalPath('the path of a file'),
  },
  apiTlsKeyFile: {
    flag: '--api-tls-key-file',
    default: '',
    apps: ADMIN,
    description: "PEM file with that certificate's private key.",
    ...optionalPath('the path of a file'),
  },
  auth: {
    flag: '--auth',
    default: 'kubernetes',
    apps: ADMIN,
    description:
      'How to check bearer tokens: with TokenReview and SubjectAccessReview (`kubernetes`) or --static-tokens-file (`static`).',
    ...oneOf(['kubernetes', 'static']),
  },
  apiAudience: {
    flag: '--api-audience',
    default: 'reroll',
    apps: ADMIN,
    description:
      'Audience that Kubernetes tokens must have: `kubectl create token NAME --audience=reroll`. With --auth=kubernetes.',
    ...matching('the name of an audience, without blanks', /^[!-~]{1,253}$/),
  },
  apiAcceptApiServerTokens: {
    flag: '--api-accept-api-server-tokens',
    default: 'false',
    apps: ADMIN,
    description:
      'Also accept tokens for the API server (`kubectl create token NAME`, OIDC, exec plugins). Whoever controls an admin or reads its traffic can then act as their owners in the whole cluster. With --auth=kubernetes.',
    ...bool(),
  },
  staticTokensFile: {
    flag: '--static-tokens-file',
    default: '',
    apps: ADMIN,
    description:
      'YAML or JSON list of entries with `name`, `sha256` (of the token, in hex), `access` (read or write) and `namespaces` (names, or "*"). It is reloaded when it changes. Requires --auth=static.',
    ...optionalPath('the path of a file'),
  },
  anonymous: {
    flag: '--anonymous',
    default: 'none',
    apps: ADMIN,
    description:
      'What requests without a token may do: nothing, or read everything. With `read`, any website that somebody visits while a port-forward to the admin is open on their machine may read everything, too.',
    ...oneOf(['none', 'read']),
  },
  apiRequestsPerMinute: {
    flag: '--api-requests-per-minute',
    default: '600',
    apps: ADMIN,
    description: 'Maximum requests per minute from one caller to one admin. Further ones get 429.',
    ...integer({ min: 1, max: 1_000_000 }),
  },
  apiRequestsPerMinutePerAddress: {
    flag: '--api-requests-per-minute-per-address',
    default: '6000',
    apps: ADMIN,
    description:
      'Maximum requests per minute from one address without a token, or with one that was invalid when last checked. Behind a proxy, such as that of the API server, all callers share an address unless --api-trusted-proxies names the proxy.',
    ...integer({ min: 1, max: 1_000_000 }),
  },
  apiTrustedProxies: {
    flag: '--api-trusted-proxies',
    default: '',
    apps: ADMIN,
    description:
      "Networks of trusted proxies in front of the admin (an ingress, the control plane). Through them, the caller's address is the last one in `X-Forwarded-For` that is not a trusted proxy; otherwise the header is ignored. List proxies only.",
    ...networks(),
  },
  apiRequestTimeout: {
    flag: '--api-request-timeout',
    default: '15s',
    apps: ADMIN,
    description: 'Timeout of an API request, which then gets 503. Server-sent events have no timeout.',
    ...duration({ min: 100, max: 300_000 }),
  },
});
