/** The options or the files that they name are unusable. The message reveals nothing of the files' contents. */
export class SettingsError extends Error {
  override readonly name: string = 'SettingsError';
}
