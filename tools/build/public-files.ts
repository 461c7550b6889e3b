import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';

const SWAGGER = '../../node_modules/swagger-ui-dist';
const SWAGGER_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => `${SWAGGER}/${name}`);
const DASHBOARD = '../dashboard/dist';
const ADMIN = '../admin/public';

/**
 * What an admin serves beside the API, into `dist/public`: the dashboard as its own build left it, if it was built, and the
 * page of the API's documentation with the files of Swagger UI. Gives the files that came from packages. From the app's folder.
 */
export function copyPublicFiles(): readonly string[] {
  rmSync('dist/public', { recursive: true, force: true });
  mkdirSync('dist/public', { recursive: true });
  if (existsSync(DASHBOARD)) cpSync(DASHBOARD, 'dist/public', { recursive: true });
  cpSync(ADMIN, 'dist/public', { recursive: true });
  for (const file of SWAGGER_FILES) cpSync(file, file.replace(SWAGGER, 'dist/public/api/swagger'));
  return SWAGGER_FILES;
}
