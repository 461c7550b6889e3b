/**
 * The names in a text behind which somebody else could stand: domains, owners of repositories and images, packages of npm.
 * Domains of RFC 2606 (`registry.example`) belong to nobody.
 */

/** Where everybody can have a path of their own. */
const SHARED: ReadonlySet<string> = new Set([
  'docker.io',
  'gcr.io',
  'ghcr.io',
  'github.com',
  'gitlab.com',
  'npmjs.com',
  'quay.io',
  'raw.githubusercontent.com',
]);
const DOMAIN =
  /(?<![\w./@-])((?:[a-z0-9-]+\.)+(?:ai|app|cloud|com|dev|io|net|org))(?![\w-]|\.[a-z])(\/[\w-]+)?/giu;
const URL_HOST = /(?:https?|oci|ssh):\/\/([a-z0-9.-]+\.[a-z]+)(?::\d+)?(\/[\w-]+)?/giu;
/** In YAML, as a flag, and as a value of the chart. */
const IMAGE = /(?:^\s*(?:- )?image: +|--image=|\brepository(?:: +|=))['"]?([a-z0-9][\w./:-]*)/gmu;
const SCOPED = /(?<![\w/.])(@[a-z0-9-]+)\/[a-z0-9-]+/gu;
const NPM = /\b(?:npx|npm (?:i|install|exec))(?: +-[\w-]+)* +([a-z][\w-]*)/gu;
const NOBODYS = /(?:^|\.)(?:example|example\.(?:com|net|org)|svc|local|localhost)$/u;

/** Sorted, each once, as `kubernetes.io`, `github.com/kubernetes`, `@kubernetes`, `npx vitest`. */
export function namesIn(text: string): readonly string[] {
  const domains = [...text.matchAll(DOMAIN), ...text.matchAll(URL_HOST)].flatMap(([, host = '', path = '']) =>
    placeOf(host.toLowerCase(), path),
  );
  const images = [...text.matchAll(IMAGE)].flatMap(([, image = '']) => ownerOf(image));
  const scopes = [...text.matchAll(SCOPED)].map(([, scope = '']) => scope);
  const packages = [...text.matchAll(NPM)].map(([, name = '']) => `npx ${name}`);
  return [...new Set([...domains, ...images, ...scopes, ...packages])].sort();
}

/** The domain that somebody can register, with the path if that is what is registered there. */
function placeOf(host: string, path: string): readonly string[] {
  if (NOBODYS.test(host)) return [];
  return [SHARED.has(host) ? `${host}${path}` : host.split('.').slice(-2).join('.')];
}

/** Who owns an image. Without a registry, it is of Docker Hub. */
function ownerOf(image: string): readonly string[] {
  const [first = '', second] = image.split('/');
  if (second === undefined) return ['docker.io/library'];
  return /[.:]/u.test(first) ? placeOf(first, `/${second}`) : [`docker.io/${first}`];
}
