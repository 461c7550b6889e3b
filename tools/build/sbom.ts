import { readFileSync } from 'node:fs';
import type { Package } from './packages.ts';

/**
 * The bill of materials of a program, as CycloneDX JSON: what is in its bundle, which npm cannot tell (`npm sbom` lists
 * what is installed, and leaves out what is installed for development too).
 * @param manifest path of the program's package.json
 */
export function sbom(manifest: string, packages: readonly Package[]): string {
  const program = JSON.parse(readFileSync(manifest, 'utf8')) as Package;
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...componentOf(program) } },
    components: packages.map((each) => ({ type: 'library', ...componentOf(each) })),
  };
  return `${JSON.stringify(bom, undefined, 2)}\n`;
}

function componentOf({ name, version, license }: Package): Readonly<Record<string, unknown>> {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    'bom-ref': purl,
    name,
    version,
    purl,
    ...(license === '' ? {} : { licenses: [{ expression: license }] }),
  };
}
