/** The options, or the files that they name, cannot be used; the message tells nothing of what the files hold. */
export class SettingsError extends Error {
  override readonly name: string = 'SettingsError';
}
