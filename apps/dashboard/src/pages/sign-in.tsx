import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { refused, signIn, signOut, token } from '../state/session.ts';
import { isAsking } from '../components/action.tsx';
import { PageHead } from '../components/page-head.tsx';

const WHY = {
  needed: 'This installation requires you to sign in.',
  notAccepted: 'The token was not accepted: it is not valid here, has another audience, or has expired.',
} as const;

/** Asks for a bearer token, which is kept for this tab only. */
export function SignIn(): JSX.Element {
  const [given, setGiven] = useState('');
  const id = useId();
  const why = refused.value ?? 'needed';
  const submit = (event: Event): void => {
    event.preventDefault();
    signIn(given.trim().replace(/^Bearer\s+/i, ''));
  };
  return (
    <div class="sign-in panel">
      <PageHead title="Sign in" />
      <p role={why === 'notAccepted' ? 'alert' : undefined} class={why === 'notAccepted' ? 'trouble' : ''}>
        {WHY[why]}
      </p>
      <Kept />
      <form onSubmit={submit}>
        <label for={id}>Bearer token</label>
        <input
          id={id}
          type="password"
          value={given}
          onInput={({ currentTarget }) => setGiven(currentTarget.value)}
          autocomplete="off"
          spellcheck={false}
          required
          aria-describedby={`${id}-help`}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
        {token.value === '' ? null : (
          <button type="button" onClick={signOut}>
            Continue without a token
          </button>
        )}
      </form>
      <div class="muted" id={`${id}-help`}>
        <p>
          A Kubernetes token for Reroll, for example from{' '}
          <code>kubectl create token NAME -n NAMESPACE --audience=reroll</code>, or one of the install&rsquo;s
          static tokens.
        </p>
        <p>It stays in this tab until you sign out or close it, and is sent to this server only.</p>
      </div>
    </div>
  );
}

/** Says that nothing is lost, if the session ended while a dialog was open. */
function Kept(): JSX.Element | null {
  if (!isAsking.value) return null;
  return <p>Sign in with the same account, and the dialog comes back with what you typed.</p>;
}
