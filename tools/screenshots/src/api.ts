export const TOKEN = 'token-of-the-screenshots';

/** The API of the admin, for whoever may do everything. */
export class Api {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async get<Answer>(path: string): Promise<Answer> {
    return await this.#ask<Answer>(path, {});
  }

  async post(path: string, body: unknown): Promise<void> {
    await this.#ask(path, { method: 'POST', body: JSON.stringify(body) });
  }

  async #ask<Answer>(path: string, init: RequestInit): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.#url}/api/v1/${path}`, { ...init, headers });
    if (!response.ok && response.status !== 404)
      throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (response.ok ? await response.json() : { sourcesInDetail: [] }) as Answer;
  }
}
