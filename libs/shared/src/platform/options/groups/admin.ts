/** Where the admin API is served, and who may use it. */
import { ADMIN, option } from '../parsing/option.ts';
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

const group = 'Admin API';

export const adminOptions = {
  apiAddr: option({
    flag: '--api-addr',
    env: 'REROLL_API_ADDR',
    default: ':8080',
    apps: ADMIN,
    group,
    description: 'Where the API and the dashboard are served. Port 0 picks a free one.',
    ...listenAddress(),
  }),
  apiTlsCertFile: option({
    flag: '--api-tls-cert-file',
    env: 'REROLL_API_TLS_CERT_FILE',
    default: '',
    apps: ADMIN,
    group,
    description:
      'Certificate (PEM) of the API, read anew when it changes. Needs --api-tls-key-file. Unset: plain HTTP, for a cluster that has TLS in front.',
    ...optionalPath('the path of a file'),
  }),
  apiTlsKeyFile: option({
    flag: '--api-tls-key-file',
    env: 'REROLL_API_TLS_KEY_FILE',
    default: '',
    apps: ADMIN,
    group,
    description: 'Key (PEM) of that certificate.',
    ...optionalPath('the path of a file'),
  }),
  auth: option({
    flag: '--auth',
    env: 'REROLL_AUTH',
    default: 'kubernetes',
    apps: ADMIN,
    group,
    description:
      'Who is asked about a bearer token: `kubernetes` by TokenReview and SubjectAccessReview, or `static` by --static-tokens-file.',
    ...oneOf(['kubernetes', 'static']),
  }),
  apiAudience: option({
    flag: '--api-audience',
    env: 'REROLL_API_AUDIENCE',
    default: 'reroll',
    apps: ADMIN,
    group,
    description:
      'The audience that tokens of the cluster must be for, e.g. of `kubectl create token NAME --audience=reroll`. With --auth=kubernetes.',
    ...matching('the name of an audience, without blanks', /^[!-~]{1,253}$/),
  }),
  apiAcceptApiServerTokens: option({
    flag: '--api-accept-api-server-tokens',
    env: 'REROLL_API_ACCEPT_API_SERVER_TOKENS',
    default: 'false',
    apps: ADMIN,
    group,
    description:
      'Also accept tokens for the API server itself (of `kubectl create token NAME`, OIDC, exec plugins). Whoever controls an admin, or reads its traffic, can then act as their owners in the whole cluster. With --auth=kubernetes.',
    ...bool(),
  }),
  staticTokensFile: option({
    flag: '--static-tokens-file',
    env: 'REROLL_STATIC_TOKENS_FILE',
    default: '',
    apps: ADMIN,
    group,
    description:
      'YAML or JSON: a list of `name`, `sha256` (of the token, in hex), `access` (read or write) and `namespaces` (names, or "*"). Read anew when it changes. Needs --auth=static.',
    ...optionalPath('the path of a file'),
  }),
  anonymous: option({
    flag: '--anonymous',
    env: 'REROLL_ANONYMOUS',
    default: 'none',
    apps: ADMIN,
    group,
    description: 'What somebody without a token may do: nothing, or read everything.',
    ...oneOf(['none', 'read']),
  }),
  apiRequestsPerMinute: option({
    flag: '--api-requests-per-minute',
    env: 'REROLL_API_REQUESTS_PER_MINUTE',
    default: '600',
    apps: ADMIN,
    group,
    description: 'How many requests one caller may make of one admin. More are answered with 429.',
    ...integer({ min: 1, max: 1_000_000 }),
  }),
  apiRequestsPerMinutePerAddress: option({
    flag: '--api-requests-per-minute-per-address',
    env: 'REROLL_API_REQUESTS_PER_MINUTE_PER_ADDRESS',
    default: '6000',
    apps: ADMIN,
    group,
    description:
      'How many requests may come from one address without a token, and how many with tokens that were not valid when last looked at. Others are not counted with them. Behind a proxy (that of the API server too) all callers have the same address, unless --api-trusted-proxies names it.',
    ...integer({ min: 1, max: 1_000_000 }),
  }),
  apiTrustedProxies: option({
    flag: '--api-trusted-proxies',
    env: 'REROLL_API_TRUSTED_PROXIES',
    default: '',
    apps: ADMIN,
    group,
    description:
      "Networks of proxies in front of the admin (an ingress, the control plane). Of a request that comes through them the caller's address is the last in `X-Forwarded-For` that is none of theirs; the header of anybody else is not believed. So name nothing but proxies.",
    ...networks(),
  }),
  apiRequestTimeout: option({
    flag: '--api-request-timeout',
    env: 'REROLL_API_REQUEST_TIMEOUT',
    default: '15s',
    apps: ADMIN,
    group,
    description:
      'How long an answer may take; then it is a 503. Server-sent events go on for as long as they are read.',
    ...duration({ min: 100, max: 300_000 }),
  }),
} as const;
